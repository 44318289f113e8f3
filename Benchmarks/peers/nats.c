#define _GNU_SOURCE
// NATS JetStream: acknowledged publishes to the stream KV, and a push consumer for each watcher.
#include "client.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// MSG <subject> <subscription> [<reply>] <size>, then the payload; any other line stands alone.
static size_t messageSize(const char *bytes, size_t length) {
    const char *end = memchr(bytes, '\n', length);
    if (!end) return 0;
    size_t head = (size_t)(end - bytes) + 1;
    if (!memcmp(bytes, "-ERR", 4)) fail("NATS: %.*s", (int)head, bytes);
    if (memcmp(bytes, "MSG ", 4)) return head;
    const char *number = memrchr(bytes, ' ', head);
    size_t total = head + strtoul(number + 1, NULL, 10) + 2;
    return length < total ? 0 : total;
}

static size_t answer(struct connection *connection, const char *bytes, size_t length) {
    (void)connection;
    size_t size = messageSize(bytes, length);
    if (size && memmem(bytes, size, "\"error\"", 7)) fail("NATS: %.*s", (int)size, bytes);
    return size;
}

static void login(struct connection *connection) {
    char text[256];
    int length = snprintf(
        text, sizeof text, "CONNECT {\"verbose\":false}\r\nSUB answers.%d.%d 1\r\nPING\r\n", getpid(), connection->file);
    readUntil(connection, "\r\n");
    sendAll(connection, text, length);
    char *end = readUntil(connection, "PONG\r\n");
    consume(connection, end - connection->input);
}

static void put(struct connection *connection) {
    struct request *request = &connection->request;
    append(request, "PUB kv.");
    appendKey(request, connection->index);
    append(request, " answers.%d.%d %d\r\n", getpid(), connection->file, valueSize);
    appendValue(request, false);
    append(request, "\r\n");
}

static void subscribe(struct connection *connection, const char *writersAnswer) {
    (void)writersAnswer;
    char body[512], text[1024];
    int length = snprintf(
        body, sizeof body,
        "{\"stream_name\":\"KV\",\"config\":{\"deliver_subject\":\"events.%d.%d\",\"deliver_policy\":\"new\","
        "\"ack_policy\":\"none\",\"replay_policy\":\"instant\",\"mem_storage\":true}}",
        getpid(), connection->file);
    length = snprintf(
        text, sizeof text, "SUB events.%d.%d 2\r\nPUB $JS.API.CONSUMER.CREATE.KV answers.%d.%d %d\r\n%s\r\n",
        getpid(), connection->file, getpid(), connection->file, length, body);
    sendAll(connection, text, length);
    size_t size;
    while (!(size = answer(connection, connection->input, connection->inputLength))) readMore(connection);
    consume(connection, size);
}

const struct protocol nats = {
    .name = "nats",
    .open = login,
    .put = put,
    .answer = answer,
    .subscribe = subscribe,
    .event = messageSize,
};
