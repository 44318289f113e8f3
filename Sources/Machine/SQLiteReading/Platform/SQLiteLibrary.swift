import CShims
import Essentials

/// The functions of the system's libsqlite3 that reading needs, by their names without `sqlite3_`.
///
/// Unchecked because the addresses of C functions, which do not change, are not declared as sendable.
package struct SQLiteLibrary: @unchecked Sendable {
    typealias Handle = UnsafeMutableRawPointer

    let call: sqlite_functions

    /// The system's library; nil when it is not installed.
    package static let installed = SQLiteLibrary(fileNames: fileNames)

    /// Loads the first library that exists, and keeps it loaded; nil when there is none.
    init?(fileNames: [String]) {
        guard let library = SharedLibrary(fileNames: fileNames) else { return nil }
        func function<Function>(_ name: String) throws(SharedLibrary.MissingFunction) -> Function {
            try library.function("sqlite3_" + name)
        }
        do throws(SharedLibrary.MissingFunction) {
            call = try sqlite_functions(
                open_v2: function("open_v2"),
                close: function("close"),
                exec: function("exec"),
                limit: function("limit"),
                progress_handler: function("progress_handler"),
                set_authorizer: function("set_authorizer"),
                prepare_v2: function("prepare_v2"),
                step: function("step"),
                finalize: function("finalize"),
                bind_int64: function("bind_int64"),
                bind_text: function("bind_text"),
                column_type: function("column_type"),
                column_bytes: function("column_bytes"),
                column_int64: function("column_int64"),
                column_double: function("column_double"),
                column_text: function("column_text"),
                column_blob: function("column_blob"),
                vfs_register: function("vfs_register"),
                vfs_unregister: function("vfs_unregister"),
                errstr: function("errstr"),
                memory_used: function("memory_used"))
        } catch {
            // Too old for what is asked here, as good as none.
            return nil
        }
    }
}
