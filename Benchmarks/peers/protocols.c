#define _GNU_SOURCE
// The text protocols.
#include "client.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *token = "";

static size_t lineEnd(const char *bytes, size_t length) {
    const char *end = memchr(bytes, '\n', length);
    return end ? (size_t)(end - bytes) + 1 : 0;
}

// MARK: Redis: SET, PUBLISH, SUBSCRIBE

static void redisPut(struct connection *connection) {
    struct request *request = &connection->request;
    append(request, "*3\r\n$3\r\nSET\r\n$8\r\n");
    appendKey(request, connection->index);
    append(request, "\r\n$%d\r\n", valueSize);
    appendValue(request, false);
    append(request, "\r\n");
}

static void redisAnnounce(struct connection *connection) {
    struct request *request = &connection->request;
    redisPut(connection);
    append(request, "*3\r\n$7\r\nPUBLISH\r\n$7\r\nchanges\r\n$%d\r\n", valueSize);
    appendValue(request, false);
    append(request, "\r\n");
}

static size_t redisAnswer(struct connection *connection, const char *bytes, size_t length) {
    (void)connection;
    size_t size = lineEnd(bytes, length);
    if (size && bytes[0] != '+' && bytes[0] != ':') fail("Redis: %.*s", (int)size, bytes);
    return size;
}

static void redisSubscribe(struct connection *connection, const char *answer) {
    (void)answer;
    static const char command[] = "*2\r\n$9\r\nSUBSCRIBE\r\n$7\r\nchanges\r\n";
    sendAll(connection, command, sizeof command - 1);
    char *end = readUntil(connection, ":1\r\n");
    consume(connection, end - connection->input);
}

static size_t redisEvent(const char *bytes, size_t length) {
    static const char head[] = "*3\r\n$7\r\nmessage\r\n$7\r\nchanges\r\n$";
    const size_t headLength = sizeof head - 1;
    if (length < headLength + 8) return 0;
    if (memcmp(bytes, head, headLength)) fail("Redis: not a message: %.60s", bytes);
    char *number = NULL;
    size_t size = strtoul(bytes + headLength, &number, 10);
    size_t total = (size_t)(number - bytes) + 2 + size + 2;
    return length < total ? 0 : total;
}

const struct protocol redis = {
    .name = "redis",
    .put = redisPut,
    .announce = redisAnnounce,
    .announceAnswers = 2,
    .answer = redisAnswer,
    .subscribe = redisSubscribe,
    .event = redisEvent,
};

// MARK: kvsd: PUT, server-sent events

static void kvsdPut(struct connection *connection) {
    struct request *request = &connection->request;
    append(request, "PUT /v1/stores/bench-%d/keys/", connection->index);
    appendKey(request, connection->index);
    append(
        request,
        " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
        "Content-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n",
        token, valueSize);
    appendValue(request, false);
}

// The size of an HTTP answer with a Content-Length; 0 if it is incomplete.
static size_t httpAnswer(const char *bytes, size_t length, const char *name) {
    const char *end = memmem(bytes, length, "\r\n\r\n", 4);
    if (!end) return 0;
    size_t body = 0;
    for (const char *line = bytes; line < end; line = (char *)memchr(line, '\n', end + 2 - line) + 1)
        if (!strncasecmp(line, "content-length:", 15)) body = strtoul(line + 15, NULL, 10);
    size_t total = (size_t)(end - bytes) + 4 + body;
    if (length < total) return 0;
    if (memcmp(bytes + 9, "200", 3)) fail("%s: %.*s", name, (int)total, bytes);
    return total;
}

static size_t kvsdAnswer(struct connection *connection, const char *bytes, size_t length) {
    (void)connection;
    return httpAnswer(bytes, length, "kvsd");
}

static void kvsdSubscribe(struct connection *connection, const char *answer) {
    const char *sequence = strstr(answer, "\"seq\":");
    if (!sequence) fail("kvsd: no sequence number: %s", answer);
    char head[512];
    int length = snprintf(
        head, sizeof head,
        "GET /v1/stores/bench-0/changes?since=%llu HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        "Authorization: Bearer %s\r\n\r\n",
        strtoull(sequence + 6, NULL, 10), token);
    sendAll(connection, head, length);
    readUntil(connection, "\r\n\r\n");
    if (memcmp(connection->input + 9, "200", 3)) fail("kvsd: %s", connection->input);
    readUntil(connection, "event: opened\n");
    char *end = readUntil(connection, "\n\n");
    consume(connection, end - connection->input);
}

// An event ends with an empty line. The chunk's framing before it counts as part of it.
static size_t kvsdEvent(const char *bytes, size_t length) {
    // memmem for two bytes would look at each of them; memchr does not.
    const char *end = memchr(bytes, '\n', length);
    while (end && end + 1 < bytes + length && end[1] != '\n')
        end = memchr(end + 1, '\n', bytes + length - end - 1);
    if (end && end + 1 >= bytes + length) end = NULL;
    return end ? (size_t)(end - bytes) + 2 : 0;
}

const struct protocol kvsd = {
    .name = "kvsd",
    .put = kvsdPut,
    .answer = kvsdAnswer,
    .subscribe = kvsdSubscribe,
    .event = kvsdEvent,
    .eventsInBase64 = true,
};

// MARK: etcd: the JSON gateway of its gRPC interface

// A key of the client, being base64 of 6 bytes, is used as it is.
static void etcdPut(struct connection *connection) {
    struct request *request = &connection->request;
    static const char before[] = "{\"key\":\"", between[] = "\",\"value\":\"", after[] = "\"}";
    size_t length = sizeof before + 8 + sizeof between + base64Length(valueSize) + sizeof after - 3;
    append(
        request,
        "POST /v3/kv/put HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Content-Length: %zu\r\n\r\n%s",
        length, before);
    appendKey(request, connection->index);
    append(request, "%s", between);
    appendValue(request, true);
    append(request, "%s", after);
}

static size_t etcdAnswer(struct connection *connection, const char *bytes, size_t length) {
    (void)connection;
    return httpAnswer(bytes, length, "etcd");
}

static void etcdSubscribe(struct connection *connection, const char *answer) {
    (void)answer;
    static const char body[] = "{\"create_request\":{\"key\":\"k000\",\"range_end\":\"k001\"}}";
    char head[512];
    int length = snprintf(
        head, sizeof head,
        "POST /v3/watch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Content-Length: %zu\r\n\r\n%s",
        sizeof body - 1, body);
    sendAll(connection, head, length);
    readUntil(connection, "\"created\":true");
    char *end = readUntil(connection, "\n");
    consume(connection, end - connection->input);
}

const struct protocol etcd = {
    .name = "etcd",
    .put = etcdPut,
    .answer = etcdAnswer,
    .subscribe = etcdSubscribe,
    .event = lineEnd, // an event is one line, framed by short ones
    .eventsInBase64 = true,
};
