// Makes one file call of a program go wrong: loaded with LD_PRELOAD, told by the environment.
//
//   FAULT_FOLDER   only calls on files in this folder count
//   FAULT_CALLS    which calls count, as "write sync rename": all when empty
//   FAULT_AT       the first call that goes wrong, from 1; 0 for none
//   FAULT_COUNT    how many go wrong from there on; 0 for all that follow
//   FAULT_ACTION   kill (instead of the call), kill-after, torn (a part is written, then kill),
//                  short (a part is written and reported), lie (nothing is written, all is
//                  reported), error, or delay (the call, later)
//   FAULT_NUMBER   the errno of error, the milliseconds of delay
//   FAULT_SWITCH   a file; calls go wrong only while it exists
//   FAULT_LOG      gets a line for each call: number, name, bytes, start and end (monotonic ns),
//                  whether it went wrong, path
//
// Counting is done for the whole process. 'strace -e inject' counts each thread for itself, so it
// cannot place a fault at the n-th call of a program with threads.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char folder[PATH_MAX], calls[256], action[32], switchFile[PATH_MAX];
static long at, count, number;
static int logFile = -1;
static atomic_long seen;

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("FAULT_FOLDER");
    if (!text || !realpath(text, folder)) return;
    snprintf(calls, sizeof calls, " %s ", (text = getenv("FAULT_CALLS")) ? text : "");
    snprintf(action, sizeof action, "%s", (text = getenv("FAULT_ACTION")) ? text : "");
    snprintf(switchFile, sizeof switchFile, "%s", (text = getenv("FAULT_SWITCH")) ? text : "");
    at = (text = getenv("FAULT_AT")) ? atol(text) : 0;
    count = (text = getenv("FAULT_COUNT")) ? atol(text) : 1;
    number = (text = getenv("FAULT_NUMBER")) ? atol(text) : 0;
    if ((text = getenv("FAULT_LOG")))
        logFile = (int)syscall(
            SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int isInside(const char *path) {
    size_t length = strlen(folder);
    return length && !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

// What the call at hand is about.
static _Thread_local char path[PATH_MAX];

static int isDescriptorInside(int descriptor) {
    if (!folder[0]) return 0;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path / 2);
    if (length <= 0) return 0;
    path[length] = 0;
    return isInside(path);
}

static int isNameInside(int directory, const char *name) {
    if (!folder[0] || !name) return 0;
    if (name[0] == '/') {
        snprintf(path, sizeof path, "%s", name);
        return isInside(name);
    }
    if (directory == AT_FDCWD || !isDescriptorInside(directory)) return 0;
    size_t length = strlen(path);
    snprintf(path + length, sizeof path - length, "/%s", name);
    return 1;
}

struct call {
    const char *name;
    long number, bytes;
    int64_t start;
    int isFaulty;
};

static void note(struct call *call) {
    if (logFile < 0) return;
    char line[PATH_MAX + 160];
    int length = snprintf(
        line, sizeof line, "%ld %s %ld %lld %lld %d %s\n", call->number, call->name, call->bytes,
        (long long)call->start, (long long)now(), call->isFaulty, path);
    syscall(SYS_write, logFile, line, (size_t)length);
}

static struct call enter(const char *name, long bytes) {
    struct call call = {name, 0, bytes, now(), 0};
    char padded[32];
    snprintf(padded, sizeof padded, " %s ", name);
    if (strspn(calls, " ") != strlen(calls) && !strstr(calls, padded)) return call;
    if (switchFile[0] && syscall(SYS_faccessat, AT_FDCWD, switchFile, F_OK)) return call;
    call.number = atomic_fetch_add(&seen, 1) + 1;
    call.isFaulty = at && call.number >= at && (!count || call.number < at + count);
    return call;
}

static void die(struct call *call) {
    note(call);
    kill(getpid(), SIGKILL);
    while (1) pause();
}

// The whole of a call that does not write bytes.
#define AROUND(NAME, BYTES, FAILED, DO)                                                            \
    struct call call = enter(NAME, BYTES);                                                         \
    if (call.isFaulty && !strcmp(action, "error")) {                                               \
        note(&call);                                                                               \
        FAILED;                                                                                    \
    }                                                                                              \
    if (call.isFaulty && (!strcmp(action, "kill") || !strcmp(action, "torn"))) die(&call);         \
    if (call.isFaulty && !strcmp(action, "delay")) usleep((useconds_t)number * 1000);              \
    __auto_type result = DO;                                                                       \
    int code = errno;                                                                              \
    if (call.isFaulty && !strcmp(action, "kill-after")) die(&call);                                \
    note(&call);                                                                                   \
    errno = code;                                                                                  \
    return result

#define FAIL                                                                                       \
    errno = (int)number;                                                                           \
    return -1

#define NEXT(NAME) static __typeof__(NAME) *next; if (!next) next = dlsym(RTLD_NEXT, #NAME)

#define WRITING(SHORTER)                                                                           \
    int isLie = !strcmp(action, "lie");                                                            \
    int isPart = bytes > 1 && (isLie || !strcmp(action, "torn") || !strcmp(action, "short"));      \
    if (isPart) {                                                                                  \
        struct call call = enter("write", (long)bytes);                                            \
        ssize_t result = !call.isFaulty ? -2 : isLie ? (ssize_t)bytes : SHORTER;                   \
        if (call.isFaulty && !strcmp(action, "torn")) die(&call);                                  \
        if (result == -2) result = WHOLE;                                                          \
        note(&call);                                                                               \
        return result;                                                                             \
    }                                                                                              \
    AROUND("write", (long)bytes, FAIL, WHOLE)

ssize_t pwrite(int descriptor, const void *buffer, size_t bytes, off_t offset) {
    NEXT(pwrite);
    if (!isDescriptorInside(descriptor)) return next(descriptor, buffer, bytes, offset);
#define WHOLE next(descriptor, buffer, bytes, offset)
    WRITING(next(descriptor, buffer, bytes / 2, offset));
#undef WHOLE
}
ssize_t pwrite64(int descriptor, const void *buffer, size_t bytes, off64_t offset) {
    return pwrite(descriptor, buffer, bytes, offset);
}

ssize_t write(int descriptor, const void *buffer, size_t bytes) {
    NEXT(write);
    if (!isDescriptorInside(descriptor)) return next(descriptor, buffer, bytes);
#define WHOLE next(descriptor, buffer, bytes)
    WRITING(next(descriptor, buffer, bytes / 2));
#undef WHOLE
}

int fdatasync(int descriptor) {
    NEXT(fdatasync);
    if (!isDescriptorInside(descriptor)) return next(descriptor);
    AROUND("sync", 0, FAIL, next(descriptor));
}

int fsync(int descriptor) {
    NEXT(fsync);
    if (!isDescriptorInside(descriptor)) return next(descriptor);
    AROUND("sync", 0, FAIL, next(descriptor));
}

int ftruncate(int descriptor, off_t bytes) {
    NEXT(ftruncate);
    if (!isDescriptorInside(descriptor)) return next(descriptor, bytes);
    AROUND("truncate", (long)bytes, FAIL, next(descriptor, bytes));
}
int ftruncate64(int descriptor, off64_t bytes) { return ftruncate(descriptor, bytes); }

int posix_fallocate(int descriptor, off_t offset, off_t bytes) {
    NEXT(posix_fallocate);
    if (!isDescriptorInside(descriptor)) return next(descriptor, offset, bytes);
    AROUND("reserve", (long)bytes, return (int)number, next(descriptor, offset, bytes));
}
int posix_fallocate64(int descriptor, off64_t offset, off64_t bytes) {
    return posix_fallocate(descriptor, offset, bytes);
}

int rename(const char *old, const char *new) {
    NEXT(rename);
    if (!isNameInside(AT_FDCWD, new)) return next(old, new);
    AROUND("rename", 0, FAIL, next(old, new));
}

int renameat(int oldFolder, const char *old, int newFolder, const char *new) {
    NEXT(renameat);
    if (!isNameInside(newFolder, new)) return next(oldFolder, old, newFolder, new);
    AROUND("rename", 0, FAIL, next(oldFolder, old, newFolder, new));
}

int linkat(int oldFolder, const char *old, int newFolder, const char *new, int flags) {
    NEXT(linkat);
    if (!isNameInside(newFolder, new)) return next(oldFolder, old, newFolder, new, flags);
    AROUND("link", 0, FAIL, next(oldFolder, old, newFolder, new, flags));
}

int unlink(const char *name) {
    NEXT(unlink);
    if (!isNameInside(AT_FDCWD, name)) return next(name);
    AROUND("remove", 0, FAIL, next(name));
}

int unlinkat(int directory, const char *name, int flags) {
    NEXT(unlinkat);
    if (!isNameInside(directory, name)) return next(directory, name, flags);
    AROUND("remove", 0, FAIL, next(directory, name, flags));
}

int mkdir(const char *name, mode_t mode) {
    NEXT(mkdir);
    if (!isNameInside(AT_FDCWD, name)) return next(name, mode);
    AROUND("create", 0, FAIL, next(name, mode));
}

static mode_t modeOf(int flags, va_list arguments) {
    return flags & O_CREAT ? (mode_t)va_arg(arguments, int) : 0;
}

int open(const char *name, int flags, ...) {
    NEXT(open);
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = modeOf(flags, arguments);
    va_end(arguments);
    if (!(flags & O_CREAT) || !isNameInside(AT_FDCWD, name)) return next(name, flags, mode);
    AROUND("create", 0, FAIL, next(name, flags, mode));
}
int open64(const char *name, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = modeOf(flags, arguments);
    va_end(arguments);
    return open(name, flags, mode);
}

int openat(int directory, const char *name, int flags, ...) {
    NEXT(openat);
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = modeOf(flags, arguments);
    va_end(arguments);
    if (!(flags & O_CREAT) || !isNameInside(directory, name))
        return next(directory, name, flags, mode);
    AROUND("create", 0, FAIL, next(directory, name, flags, mode));
}
int openat64(int directory, const char *name, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = modeOf(flags, arguments);
    va_end(arguments);
    return openat(directory, name, flags, mode);
}
