#ifndef CSHIMS_ARGUMENTS_H
#define CSHIMS_ARGUMENTS_H

/// The arguments as `main` gets them, terminated by a null pointer; null where the system does not pass them to
/// initializers.
char *const *program_arguments(void);

#endif
