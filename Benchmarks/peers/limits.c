// What this machine allows at best, and how long programs take; prints one line of JSON.
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { size = 4096, sampleLimit = 1 << 20, allocated = 64 << 20 };

static uint64_t samples[sampleLimit];
static size_t sampleCount;

_Noreturn static void fail(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static int compare(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void print(const char *mode) {
    uint64_t sum = 0;
    for (size_t i = 0; i < sampleCount; i++) sum += samples[i];
    qsort(samples, sampleCount, sizeof *samples, compare);
    printf(
        "{\"mode\":\"%s\",\"count\":%zu,\"per_second\":%.1f,\"p50_us\":%.1f,\"p99_us\":%.1f}\n", mode, sampleCount,
        sampleCount * 1e9 / sum, samples[sampleCount / 2] / 1e3, samples[sampleCount * 99 / 100] / 1e3);
}

// Appends and syncs 4 KiB at a time; with `preallocated`, into blocks written before.
static void syncs(const char *path, int preallocated, double seconds) {
    static char block[size];
    memset(block, 'x', size);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0) fail(path);
    for (int i = 0; preallocated && i < allocated; i += size)
        if (pwrite(file, block, size, i) != size) fail("pwrite");
    if (fsync(file)) fail("fsync");
    uint64_t end = now() + seconds * 1e9, begin;
    while ((begin = now()) < end && sampleCount < sampleLimit) {
        off_t place = preallocated ? (off_t)(sampleCount * size % allocated) : (off_t)(sampleCount * size);
        if (pwrite(file, block, size, place) != size || fdatasync(file)) fail("append");
        samples[sampleCount++] = now() - begin;
    }
    unlink(path);
}

static void transfer(int file, char *bytes, int sends) {
    for (size_t done = 0; done < size;) {
        ssize_t count = sends ? send(file, bytes + done, size - done, MSG_NOSIGNAL) : recv(file, bytes + done, size - done, 0);
        if (count <= 0) exit(0);
        done += count;
    }
}

// 4 KiB to another process and back.
static void pingPong(double seconds) {
    static char block[size];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (bind(listener, (void *)&address, length) || listen(listener, 1) || getsockname(listener, (void *)&address, &length))
        fail("listen");
    if (!fork()) {
        int file = accept(listener, NULL, NULL);
        setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        for (;;) transfer(file, block, 0), transfer(file, block, 1);
    }
    int file = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(file, (void *)&address, length)) fail("connect");
    setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    uint64_t end = now() + seconds * 1e9, begin;
    while ((begin = now()) < end && sampleCount < sampleLimit) {
        transfer(file, block, 1), transfer(file, block, 0);
        samples[sampleCount++] = now() - begin;
    }
}

// From spawning to reaping.
static void processes(int count, char **arguments) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int file = 0; file < 3; file++)
        posix_spawn_file_actions_addopen(&actions, file, "/dev/null", file ? O_WRONLY : O_RDONLY, 0);
    for (int i = 0; i < count; i++) {
        pid_t child;
        int status;
        uint64_t begin = now();
        if (posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ)) fail(arguments[0]);
        if (waitpid(child, &status, 0) < 0 || status) exit((fprintf(stderr, "%s failed\n", arguments[0]), 1));
        samples[sampleCount++] = now() - begin;
    }
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    if (count == 4 && (!strcmp(mode, "append") || !strcmp(mode, "overwrite")))
        syncs(arguments[2], mode[0] == 'o', atof(arguments[3]));
    else if (count == 3 && !strcmp(mode, "ping-pong"))
        pingPong(atof(arguments[2]));
    else if (count > 3 && !strcmp(mode, "process"))
        processes(atoi(arguments[2]), arguments + 3);
    else
        return fprintf(
            stderr, "usage: limits append|overwrite FILE SECONDS | ping-pong SECONDS | process COUNT PROGRAM …\n"), 64;
    if (!sampleCount) return 1;
    print(mode);
}
