// PostgreSQL: prepared statements in its extended protocol, LISTEN and NOTIFY.
#include "client.h"
#include <arpa/inet.h>
#include <string.h>

static void append16(struct request *request, uint16_t number) {
    number = htons(number);
    appendBytes(request, &number, sizeof number);
}

static void append32(struct request *request, uint32_t number) {
    number = htonl(number);
    appendBytes(request, &number, sizeof number);
}

// With its terminator.
static void appendText(struct request *request, const char *text) { appendBytes(request, text, strlen(text) + 1); }

static size_t messageSize(const char *bytes, size_t length) {
    if (length < 5) return 0;
    uint32_t number;
    memcpy(&number, bytes + 1, sizeof number);
    size_t size = 1 + ntohl(number);
    return length < size ? 0 : size;
}

// Up to and including ReadyForQuery.
static size_t answer(struct connection *connection, const char *bytes, size_t length) {
    (void)connection;
    size_t total = 0, size;
    while ((size = messageSize(bytes + total, length - total))) {
        char kind = bytes[total];
        if (kind == 'E')
            for (const char *field = bytes + total + 5; *field; field += strlen(field) + 1)
                if (*field == 'M') fail("PostgreSQL: %s", field + 1);
        total += size;
        if (kind == 'Z') return total;
    }
    return 0;
}

static void exchange(struct connection *connection, struct request *request) {
    sendAll(connection, request->bytes, request->length);
    request->length = 0;
    size_t size;
    while (!(size = answer(connection, connection->input, connection->inputLength))) readMore(connection);
    consume(connection, size);
}

static void appendParse(struct request *request, const char *name, const char *query) {
    appendBytes(request, "P", 1);
    append32(request, 4 + strlen(name) + 1 + strlen(query) + 1 + 2);
    appendText(request, name);
    appendText(request, query);
    append16(request, 0);
}

static void appendSync(struct request *request) {
    appendBytes(request, "S", 1);
    append32(request, 4);
}

static void appendExecute(struct request *request) {
    appendBytes(request, "E", 1);
    append32(request, 4 + 1 + 4);
    appendText(request, "");
    append32(request, 0);
}

static void open(struct connection *connection) {
    static const char startup[] = "user\0postgres\0database\0postgres\0";
    struct request request = {0};
    append32(&request, 8 + sizeof startup);
    append32(&request, 196608);
    appendBytes(&request, startup, sizeof startup);
    exchange(connection, &request);
    appendParse(
        &request, "put",
        "INSERT INTO kv VALUES ($1::text, $2::bytea) ON CONFLICT (key) DO UPDATE SET value = excluded.value");
    appendParse(&request, "notify", "SELECT pg_notify('changes', $1::text)");
    appendSync(&request);
    exchange(connection, &request);
}

static void appendPut(struct connection *connection, int key) {
    struct request *request = &connection->request;
    appendBytes(request, "B", 1);
    append32(request, 4 + 1 + 4 + 2 + 4 + 2 + 4 + 8 + 4 + valueSize + 2);
    appendText(request, "");
    appendText(request, "put");
    append16(request, 2);
    append16(request, 0); // the key as text
    append16(request, 1); // the value as bytes
    append16(request, 2);
    append32(request, 8);
    appendKey(request, key);
    append32(request, valueSize);
    appendValue(request, false);
    append16(request, 0);
    appendExecute(request);
}

static void put(struct connection *connection) {
    appendPut(connection, connection->index);
    appendSync(&connection->request);
}

// The puts of a group in one transaction and one flush, as a server has them that gathers requests.
static void putGroup(struct connection *connection) {
    for (int i = 0; i < 16; i++) appendPut(connection, connection->index * 16 + i);
    appendSync(&connection->request);
}

// One transaction. The payload of a notification is text, below 8,000 bytes.
static void announce(struct connection *connection) {
    struct request *request = &connection->request;
    appendPut(connection, connection->index);
    appendBytes(request, "B", 1);
    append32(request, 4 + 1 + 7 + 2 + 2 + 4 + base64Length(valueSize) + 2);
    appendText(request, "");
    appendText(request, "notify");
    append16(request, 0);
    append16(request, 1);
    append32(request, base64Length(valueSize));
    appendValue(request, true);
    append16(request, 0);
    appendExecute(request);
    appendSync(request);
}

static void subscribe(struct connection *connection, const char *answer) {
    (void)answer;
    struct request request = {0};
    appendBytes(&request, "Q", 1);
    append32(&request, 4 + sizeof "LISTEN changes");
    appendText(&request, "LISTEN changes");
    exchange(connection, &request);
}

#define POSTGRES(label, putter) \
    { \
        .name = label, .open = open, .put = putter, .announce = announce, .announceAnswers = 1, .answer = answer, \
        .subscribe = subscribe, .event = messageSize, .eventsInBase64 = true, \
    }

const struct protocol postgres = POSTGRES("postgresql", put);
// Its figures of puts count groups of 16.
const struct protocol postgresGroups = POSTGRES("postgresql-groups", putGroup);
