#define _GNU_SOURCE
// Requests that are built once and patched for every put.
#include "client.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void appendBytes(struct request *request, const void *bytes, size_t length) {
    if (request->length + length > request->capacity) {
        request->capacity = 2 * request->capacity + length;
        request->bytes = realloc(request->bytes, request->capacity);
    }
    memcpy(request->bytes + request->length, bytes, length);
    request->length += length;
}

void append(struct request *request, const char *format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    appendBytes(request, text, length);
}

static void appendMark(struct request *request, int kind) {
    if (request->markCount == markSlots) fail("too many marks");
    request->marks[request->markCount++] = (struct mark){kind, request->length};
}

void appendKey(struct request *request, int connection) {
    append(request, "k%03d", connection);
    appendMark(request, keyMark);
    append(request, "0000");
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64Length(size_t count) { return (count + 2) / 3 * 4; }

static void encode(const unsigned char *bytes, size_t count, char *text) {
    for (size_t i = 0; i < count; i += 3, text += 4) {
        uint32_t group = bytes[i] << 16;
        if (i + 1 < count) group |= bytes[i + 1] << 8;
        if (i + 2 < count) group |= bytes[i + 2];
        for (int j = 0; j < 4; j++) text[j] = alphabet[group >> (18 - 6 * j) & 63];
        if (i + 2 >= count) text[3] = '=';
        if (i + 1 >= count) text[2] = '=';
    }
}

void appendValue(struct request *request, bool base64) {
    unsigned char value[valueSize];
    uint64_t state = 0x9e3779b97f4a7c15;
    for (int i = 0; i < valueSize; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        value[i] = state >> 32;
    }
    memset(value, '0', markerSize);
    appendMark(request, base64 ? base64Mark : rawMark);
    if (!base64) return appendBytes(request, value, valueSize);
    char text[valueSize * 2];
    encode(value, valueSize, text);
    appendBytes(request, text, base64Length(valueSize));
}

static void writeDigits(char *text, int count, uint64_t number) {
    for (int i = count - 1; i >= 0; i--, number /= 10) text[i] = '0' + number % 10;
}

static char marker[markerSize];

void patch(struct connection *connection, unsigned keyCount) {
    static uint64_t serial;
    if (!serial) {
        struct timespec time;
        clock_gettime(CLOCK_REALTIME, &time);
        // Microseconds, because no put takes less: a client that starts later puts other values. kvsd sends no event
        // when a value is put again.
        serial = time.tv_sec % 1000 * 1000000 + time.tv_nsec / 1000;
    }
    struct request *request = &connection->request;
    writeDigits(marker, markerSize, ++serial);
    for (int i = 0; i < request->markCount; i++) {
        char *place = request->bytes + request->marks[i].offset;
        switch (request->marks[i].kind) {
        case keyMark: writeDigits(place, 4, connection->nextKey % keyCount); break;
        case rawMark: memcpy(place, marker, markerSize); break;
        case base64Mark: encode((unsigned char *)marker, markerSize, place); break;
        }
    }
    connection->nextKey++;
}

size_t currentMarker(bool base64, char *text) {
    if (base64) encode((unsigned char *)marker, markerSize, text);
    else memcpy(text, marker, markerSize);
    return base64 ? base64Length(markerSize) : markerSize;
}
