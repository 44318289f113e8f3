// The arguments of main, kept before anything can change the environment that Swift finds them by. Not here: what they mean
// (Commands).

#include "arguments.h"

#include <stddef.h>
#include <stdlib.h>

static char **arguments = NULL;

// glibc and Darwin call initializers with the arguments of main, other C libraries without any.
#if defined(__GLIBC__) || defined(__APPLE__)
__attribute__((constructor)) static void keep(int argc, char **argv) {
    (void)argc;
    arguments = argv;
}
#endif

char *const *program_arguments(void) { return arguments; }
