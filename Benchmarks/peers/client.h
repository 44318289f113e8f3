// A client that costs as little as it can: one thread, one epoll instance, requests built before the
// measurement and patched in place, answers parsed only as far as their end and their status.
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { valueSize = 4096, markerSize = 9, markSlots = 64 };

// A place of a request that differs from put to put.
struct mark {
    enum { keyMark, rawMark, base64Mark } kind;
    size_t offset;
};

// One put. Every one has a value of its own: a marker, then bytes that do not compress.
struct request {
    char *bytes;
    size_t length, capacity;
    struct mark marks[markSlots];
    int markCount;
};

struct connection {
    int file, index;
    struct request request;
    unsigned nextKey;
    char *input;
    size_t inputLength, inputCapacity;
    uint64_t sentAt;
    int awaited;
};

struct protocol {
    const char *name;
    // Logs in; blocking.
    void (*open)(struct connection *);
    // Builds the put of a connection.
    void (*put)(struct connection *);
    // Builds the put whose value also reaches the watchers, and its number of answers; by default a put with one.
    void (*announce)(struct connection *);
    int announceAnswers;
    // The size of the first answer of the input, 0 if it is incomplete; exits if it is not a success.
    size_t (*answer)(struct connection *, const char *, size_t);
    // Subscribes to what connection 0 announces after its put with this answer; blocking.
    void (*subscribe)(struct connection *, const char *answer);
    // The size of the first event of the input, 0 if it is incomplete.
    size_t (*event)(const char *, size_t);
    bool eventsInBase64;
};

extern const struct protocol redis, kvsd, etcd, postgres, postgresGroups, nats;
extern const char *token;

_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

void appendBytes(struct request *, const void *, size_t);
void append(struct request *, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The key: 8 characters, which are base64 of 6 bytes as well.
void appendKey(struct request *, int connection);
void appendValue(struct request *, bool base64);
size_t base64Length(size_t);
// Gives the request its next key and a value that no put had before.
void patch(struct connection *, unsigned keyCount);
// The beginning of that value as events carry it; returns its length.
size_t currentMarker(bool base64, char *text);

// While a connection is set up:
void sendAll(struct connection *, const char *, size_t);
// Reads until `text` has arrived; returns the end of it in the input.
char *readUntil(struct connection *, const char *text);
void readMore(struct connection *);
void consume(struct connection *, size_t);
#endif
