// Drives one server over loopback and prints one line of JSON. See README.md of the package.
#define _GNU_SOURCE
#include "client.h"
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

static const struct protocol *protocol;
// Watchers connect to both ports in turns, one of another server of the same data if it is named.
static int port, watchPort, connectionCount = 1, watcherCount = 1, keyCount = 64, roundCount = 1000;
static double seconds = 5, warmup = 1;
static uint64_t putCount;

void fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(1);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

// MARK: Connections

// Returns false when nothing has arrived.
static bool receive(struct connection *connection) {
    if (connection->inputCapacity - connection->inputLength < 4096) {
        connection->inputCapacity = 2 * connection->inputCapacity + 8192;
        connection->input = realloc(connection->input, connection->inputCapacity);
    }
    ssize_t count = recv(
        connection->file, connection->input + connection->inputLength,
        connection->inputCapacity - connection->inputLength - 1, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (count < 0) fail("recv: %s", strerror(errno));
    if (count == 0)
        fail("%s closed the connection: %.*s", protocol->name, (int)connection->inputLength, connection->input);
    connection->inputLength += count;
    connection->input[connection->inputLength] = 0;
    return true;
}

void readMore(struct connection *connection) {
    struct pollfd poller = {connection->file, POLLIN, 0};
    if (poll(&poller, 1, 10000) == 0) fail("%s does not answer", protocol->name);
    receive(connection);
}

char *readUntil(struct connection *connection, const char *text) {
    for (;;) {
        char *found = connection->inputLength
            ? memmem(connection->input, connection->inputLength, text, strlen(text)) : NULL;
        if (found) return found + strlen(text);
        readMore(connection);
    }
}

void consume(struct connection *connection, size_t count) {
    connection->inputLength -= count;
    memmove(connection->input, connection->input + count, connection->inputLength);
    connection->input[connection->inputLength] = 0;
}

void sendAll(struct connection *connection, const char *bytes, size_t length) {
    while (length) {
        ssize_t count = send(connection->file, bytes, length, MSG_NOSIGNAL);
        if (count < 0 && errno == EAGAIN) {
            struct pollfd poller = {connection->file, POLLOUT, 0};
            poll(&poller, 1, 10000);
        } else if (count < 0 && errno != EINTR) {
            fail("send: %s", strerror(errno));
        } else if (count > 0) {
            bytes += count, length -= count;
        }
    }
}

static void connectTo(int port, struct connection *connection) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    connection->file = socket(AF_INET, SOCK_STREAM, 0);
    if (connection->file < 0 || connect(connection->file, (void *)&address, sizeof address))
        fail("port %d: %s", port, strerror(errno));
    int yes = 1;
    setsockopt(connection->file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (protocol->open) protocol->open(connection);
}

static struct connection *connectAll(int count) {
    struct connection *connections = calloc(count, sizeof *connections);
    for (int i = 0; i < count; i++) {
        connections[i].index = i;
        connectTo(port, &connections[i]);
    }
    return connections;
}

static void watchInput(int poller, struct connection *connections, int count) {
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &connections[i]};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, connections[i].file, &event)) fail("epoll_ctl");
    }
}

static int waitForInput(int poller, struct epoll_event *events, int count) {
    int ready = epoll_wait(poller, events, count, 10000);
    if (ready == 0) fail("%s has been silent for 10 s", protocol->name);
    return ready < 0 ? 0 : ready;
}

static void start(struct connection *connection, int answers) {
    patch(connection, keyCount);
    connection->awaited = answers;
    connection->sentAt = now();
    sendAll(connection, connection->request.bytes, connection->request.length);
}

// Takes the answers that have arrived; returns whether it was the last one awaited.
static bool finish(struct connection *connection) {
    size_t used = 0, size;
    while (connection->awaited
           && (size = protocol->answer(connection, connection->input + used, connection->inputLength - used))) {
        used += size;
        connection->awaited--;
    }
    if (used) consume(connection, used);
    return used && !connection->awaited;
}

// MARK: Results

static struct { uint64_t *times; size_t count, capacity; } samples;

static void note(uint64_t time) {
    if (samples.count == samples.capacity) {
        samples.capacity = samples.capacity ? 2 * samples.capacity : 1 << 16;
        samples.times = realloc(samples.times, samples.capacity * sizeof *samples.times);
    }
    samples.times[samples.count++] = time;
}

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static double percentile(double part) {
    return samples.count ? samples.times[(size_t)(part * (samples.count - 1))] / 1e3 : 0;
}

// `operations`: of this process in all, for what it cost by itself.
static void printSamples(uint64_t operations) {
    qsort(samples.times, samples.count, sizeof *samples.times, compare);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double processor = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
    printf(
        ",\"p50_us\":%.1f,\"p99_us\":%.1f,\"operations\":%llu,\"client_us_per_operation\":%.2f}\n", percentile(0.5),
        percentile(0.99), (unsigned long long)operations, processor / operations);
}

// MARK: Modes

static void runPuts(void) {
    struct connection *connections = connectAll(connectionCount);
    int poller = epoll_create1(0);
    watchInput(poller, connections, connectionCount);
    uint64_t begin = now(), measured = begin + warmup * 1e9, end = measured + seconds * 1e9, done = 0;
    if (putCount) measured = begin, end = UINT64_MAX;
    for (int i = 0; i < connectionCount; i++) {
        protocol->put(&connections[i]);
        start(&connections[i], 1);
    }
    uint64_t time = begin;
    while (time < end && !(putCount && done >= putCount)) {
        struct epoll_event events[128];
        int ready = waitForInput(poller, events, 128);
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            if (!receive(connection) || !finish(connection)) continue;
            time = now();
            done++;
            if (connection->sentAt >= measured) note(time - connection->sentAt);
            start(connection, 1);
        }
    }
    double elapsed = (time - measured) / 1e9;
    printf(
        "{\"mode\":\"put\",\"protocol\":\"%s\",\"connections\":%d,\"puts\":%zu,\"seconds\":%.3f,\"puts_per_second\":%.1f",
        protocol->name, connectionCount, samples.count, elapsed, samples.count / elapsed);
    printSamples(done);
}

// Puts one value and opens the watchers.
static struct connection *openWatchers(struct connection **writer) {
    *writer = connectAll(1);
    (protocol->announce ? protocol->announce : protocol->put)(*writer);
    start(*writer, protocol->announce ? protocol->announceAnswers : 1);
    char *answer = NULL;
    do {
        readMore(*writer);
        free(answer);
        answer = strdup((*writer)->input);
    } while (!finish(*writer));
    struct connection *watchers = calloc(watcherCount, sizeof *watchers);
    for (int i = 0; i < watcherCount; i++) {
        connectTo(i % 2 || !watchPort ? port : watchPort, &watchers[i]);
        protocol->subscribe(&watchers[i], answer);
    }
    return watchers;
}

static void runWatch(void) {
    struct connection *writer, *watchers = openWatchers(&writer);
    int poller = epoll_create1(0);
    watchInput(poller, writer, 1);
    watchInput(poller, watchers, watcherCount);
    for (int round = 0; round < roundCount + roundCount / 10; round++) {
        int waiting = watcherCount;
        bool acknowledged = false;
        uint64_t last = 0;
        start(writer, protocol->announce ? protocol->announceAnswers : 1);
        char text[16];
        size_t textLength = currentMarker(protocol->eventsInBase64, text);
        while (waiting || !acknowledged) {
            struct epoll_event events[256];
            int ready = waitForInput(poller, events, 256);
            for (int i = 0; i < ready; i++) {
                struct connection *connection = events[i].data.ptr;
                if (!receive(connection)) continue;
                if (connection == writer) {
                    acknowledged |= finish(writer);
                    continue;
                }
                size_t size;
                while ((size = protocol->event(connection->input, connection->inputLength))) {
                    // Not a heartbeat, nor a put of another client that ended without waiting for its answer.
                    bool current = size > valueSize && memmem(connection->input, 1024, text, textLength);
                    consume(connection, size);
                    if (current && --waiting == 0) last = now();
                }
            }
        }
        if (round >= roundCount / 10) note(last - writer->sentAt);
    }
    printf(
        "{\"mode\":\"watch\",\"protocol\":\"%s\",\"watchers\":%d,\"rounds\":%d", protocol->name, watcherCount,
        roundCount);
    printSamples(roundCount + roundCount / 10);
}

static void runIdle(void) {
    struct connection *writer;
    openWatchers(&writer);
    printf("{\"mode\":\"idle\",\"protocol\":\"%s\",\"watchers\":%d}\n", protocol->name, watcherCount);
    fflush(stdout);
    while (getchar() != EOF) {}
}

_Noreturn static void usage(void) {
    fail(
        "usage: client put|watch|idle PROTOCOL --port N [--token TEXT] [--connections N] [--keys N]\n"
        "              [--seconds S] [--warmup S] [--puts N] [--watchers N] [--rounds N] [--watch-port N]");
}

int main(int argumentCount, char **arguments) {
    static const struct option options[] = {
        {"port", 1, 0, 'p'},    {"token", 1, 0, 't'},  {"connections", 1, 0, 'c'}, {"keys", 1, 0, 'k'},
        {"seconds", 1, 0, 's'}, {"warmup", 1, 0, 'u'}, {"puts", 1, 0, 'n'},        {"watchers", 1, 0, 'w'},
        {"rounds", 1, 0, 'r'},  {"watch-port", 1, 0, 'o'}, {0},
    };
    for (int option; (option = getopt_long(argumentCount, arguments, "", options, NULL)) != -1;) switch (option) {
        case 'p': port = atoi(optarg); break;
        case 't': token = optarg; break;
        case 'c': connectionCount = atoi(optarg); break;
        case 'k': keyCount = atoi(optarg); break;
        case 's': seconds = atof(optarg); break;
        case 'u': warmup = atof(optarg); break;
        case 'n': putCount = strtoull(optarg, NULL, 10); break;
        case 'w': watcherCount = atoi(optarg); break;
        case 'o': watchPort = atoi(optarg); break;
        case 'r': roundCount = atoi(optarg); break;
        default: usage();
        }
    if (argumentCount - optind != 2 || !port || connectionCount < 1 || watcherCount < 1 || keyCount < 1 || roundCount < 1)
        usage();
    const char *mode = arguments[optind], *name = arguments[optind + 1];
    static const struct protocol *const protocols[] = {
        &redis, &kvsd, &etcd, &postgres, &postgresGroups, &nats};
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
        if (!strcmp(protocols[i]->name, name)) protocol = protocols[i];
    if (!protocol) fail("unknown protocol %s", name);
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (!strcmp(mode, "put")) runPuts();
    else if (!strcmp(mode, "watch")) runWatch();
    else if (!strcmp(mode, "idle")) runIdle();
    else usage();
}
