#ifndef CSHIMS_SQLITE_H
#define CSHIMS_SQLITE_H

// What reading needs of the binary interface of SQLite, which is stable for all of version 3 [sqlite.org/c3ref]. It is
// declared here, since the library is loaded at run time and its own header need not be installed. Fields have the
// names of that header without their prefixes.

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// The functions of libsqlite3, each under its name without `sqlite3_`. None has variable arguments.
struct sqlite_functions {
    int (*open_v2)(const char *name, void *_Nullable *_Nonnull connection, int flags, const char *_Nullable vfs);
    int (*close)(void *connection);
    int (*exec)(void *connection, const char *sql, void *_Nullable callback, void *_Nullable context,
                void *_Nullable message);
    int (*limit)(void *connection, int id, int value);
    void (*progress_handler)(void *connection, int steps, int (*_Nullable handler)(void *_Nullable context),
                             void *_Nullable context);
    int (*set_authorizer)(void *connection,
                          int (*_Nullable authorize)(void *_Nullable context, int action, const char *_Nullable first,
                                                     const char *_Nullable second, const char *_Nullable database,
                                                     const char *_Nullable within),
                          void *_Nullable context);
    int (*prepare_v2)(void *connection, const char *sql, int count, void *_Nullable *_Nonnull statement,
                      const char *_Nullable *_Nullable rest);
    int (*step)(void *statement);
    int (*finalize)(void *statement);
    int (*bind_int64)(void *statement, int index, int64_t value);
    /// The last argument is the address of a destructor, or -1 for a copy.
    int (*bind_text)(void *statement, int index, const char *text, int count, intptr_t destructor);
    int (*column_type)(void *statement, int column);
    int (*column_bytes)(void *statement, int column);
    int64_t (*column_int64)(void *statement, int column);
    double (*column_double)(void *statement, int column);
    const void *_Nullable (*_Nonnull column_text)(void *statement, int column);
    const void *_Nullable (*_Nonnull column_blob)(void *statement, int column);
    int (*vfs_register)(void *vfs, int is_default);
    int (*vfs_unregister)(void *vfs);
    const char *_Nullable (*_Nonnull errstr)(int code);
    int64_t (*memory_used)(void);
};

/// An open file: `sqlite3_file`, followed by what this project keeps of one. SQLite allocates as much as the file
/// system says.
struct sqlite_file {
    /// Null when it could not be opened; else it is closed.
    const struct sqlite_io_methods *_Nullable methods;
    void *pass;
    bool is_log;
};

/// `sqlite3_io_methods`, version 1, which has no shared memory.
struct sqlite_io_methods {
    int version;
    int (*close)(struct sqlite_file *file);
    int (*read)(struct sqlite_file *file, void *buffer, int count, int64_t offset);
    int (*write)(struct sqlite_file *file, const void *bytes, int count, int64_t offset);
    int (*truncate)(struct sqlite_file *file, int64_t count);
    int (*sync)(struct sqlite_file *file, int flags);
    int (*file_size)(struct sqlite_file *file, int64_t *count);
    int (*lock)(struct sqlite_file *file, int level);
    int (*unlock)(struct sqlite_file *file, int level);
    int (*check_reserved_lock)(struct sqlite_file *file, int *result);
    int (*file_control)(struct sqlite_file *file, int operation, void *_Nullable argument);
    int (*sector_size)(struct sqlite_file *file);
    int (*device_characteristics)(struct sqlite_file *file);
};

/// `sqlite3_vfs`, version 1.
struct sqlite_vfs {
    int version;
    int file_byte_count;
    int path_byte_limit;
    struct sqlite_vfs *_Nullable next;
    const char *name;
    void *context;
    int (*open)(struct sqlite_vfs *vfs, const char *_Nullable name, struct sqlite_file *file, int flags,
                int *_Nullable actual_flags);
    int (*delete_file)(struct sqlite_vfs *vfs, const char *name, int syncs_directory);
    int (*access)(struct sqlite_vfs *vfs, const char *name, int flags, int *result);
    int (*full_path_name)(struct sqlite_vfs *vfs, const char *name, int count, char *result);
    void *_Nullable (*_Nonnull dl_open)(struct sqlite_vfs *vfs, const char *name);
    void (*dl_error)(struct sqlite_vfs *vfs, int count, char *message);
    void *_Nullable (*_Nonnull dl_sym)(struct sqlite_vfs *vfs, void *library, const char *symbol);
    void (*dl_close)(struct sqlite_vfs *vfs, void *library);
    int (*randomness)(struct sqlite_vfs *vfs, int count, char *bytes);
    int (*sleep)(struct sqlite_vfs *vfs, int microseconds);
    int (*current_time)(struct sqlite_vfs *vfs, double *julian_day);
    int (*get_last_error)(struct sqlite_vfs *vfs, int count, char *_Nullable message);
};

#pragma clang assume_nonnull end

#endif
