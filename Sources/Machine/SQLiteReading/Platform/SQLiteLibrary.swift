import Essentials

/// The functions of the system's libsqlite3 that reading needs.
///
/// The library is loaded at run time: nothing is needed to build, and a machine without it only lacks the tools with
/// databases. No function with variable arguments is called: their calling convention differs by processor.
package struct SQLiteLibrary: Sendable {
    typealias Handle = UnsafeMutableRawPointer
    typealias Text = UnsafePointer<CChar>

    typealias Open = @Sendable @convention(c) (Text, UnsafeMutablePointer<Handle?>, CInt, Text?) -> CInt
    typealias Close = @Sendable @convention(c) (Handle) -> CInt
    typealias Execute = @Sendable @convention(c) (Handle, Text, Handle?, Handle?, Handle?) -> CInt
    typealias SetLimit = @Sendable @convention(c) (Handle, CInt, CInt) -> CInt
    typealias SetProgressHandler =
        @Sendable @convention(c) (Handle, CInt, (@convention(c) (Handle?) -> CInt)?, Handle?) ->
        Void
    typealias Authorize = @convention(c) (Handle?, _ action: CInt, Text?, Text?, Text?, _ within: Text?) -> CInt
    typealias SetAuthorizer = @Sendable @convention(c) (Handle, Authorize?, Handle?) -> CInt
    typealias Prepare =
        @Sendable @convention(c) (
            Handle, Text, CInt, UnsafeMutablePointer<Handle?>, UnsafeMutablePointer<Text?>?
        ) -> CInt
    typealias OfStatement = @Sendable @convention(c) (Handle) -> CInt
    typealias BindInteger = @Sendable @convention(c) (Handle, CInt, Int64) -> CInt
    /// The last argument is the address of a destructor, or -1 for a copy.
    typealias BindText = @Sendable @convention(c) (Handle, CInt, Text, CInt, Int) -> CInt
    typealias ColumnInt = @Sendable @convention(c) (Handle, CInt) -> CInt
    typealias ColumnInteger = @Sendable @convention(c) (Handle, CInt) -> Int64
    typealias ColumnDouble = @Sendable @convention(c) (Handle, CInt) -> Double
    typealias ColumnBytes = @Sendable @convention(c) (Handle, CInt) -> UnsafeRawPointer?
    typealias RegisterVFS = @Sendable @convention(c) (Handle, CInt) -> CInt
    typealias UnregisterVFS = @Sendable @convention(c) (Handle) -> CInt
    typealias ErrorText = @Sendable @convention(c) (CInt) -> Text?
    typealias MemoryUsed = @Sendable @convention(c) () -> Int64

    let open: Open
    let close: Close
    let execute: Execute
    let setLimit: SetLimit
    let setProgressHandler: SetProgressHandler
    let setAuthorizer: SetAuthorizer
    let prepare: Prepare
    let step: OfStatement
    let finalize: OfStatement
    let bindInteger: BindInteger
    let bindText: BindText
    let columnType: ColumnInt
    let columnByteCount: ColumnInt
    let columnInteger: ColumnInteger
    let columnDouble: ColumnDouble
    let columnText: ColumnBytes
    let columnBlob: ColumnBytes
    let registerVFS: RegisterVFS
    let unregisterVFS: UnregisterVFS
    let errorText: ErrorText
    let memoryUsed: MemoryUsed

    /// The system's library; nil when it is not installed.
    package static let installed = SQLiteLibrary(fileNames: fileNames)

    /// Loads the first library that exists, and keeps it loaded; nil when there is none.
    init?(fileNames: [String]) {
        guard let library = fileNames.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else { return nil }
        func function<Function>(_ name: String, _: Function.Type = Function.self) -> Function? {
            dlsym(library, "sqlite3_" + name).map { unsafeBitCast($0, to: Function.self) }
        }
        guard let open = function("open_v2", Open.self),
            let close = function("close", Close.self),
            let execute = function("exec", Execute.self),
            let setLimit = function("limit", SetLimit.self),
            let setProgressHandler = function("progress_handler", SetProgressHandler.self),
            let setAuthorizer = function("set_authorizer", SetAuthorizer.self),
            let prepare = function("prepare_v2", Prepare.self),
            let step = function("step", OfStatement.self),
            let finalize = function("finalize", OfStatement.self),
            let bindInteger = function("bind_int64", BindInteger.self),
            let bindText = function("bind_text", BindText.self),
            let columnType = function("column_type", ColumnInt.self),
            let columnByteCount = function("column_bytes", ColumnInt.self),
            let columnInteger = function("column_int64", ColumnInteger.self),
            let columnDouble = function("column_double", ColumnDouble.self),
            let columnText = function("column_text", ColumnBytes.self),
            let columnBlob = function("column_blob", ColumnBytes.self),
            let registerVFS = function("vfs_register", RegisterVFS.self),
            let unregisterVFS = function("vfs_unregister", UnregisterVFS.self),
            let errorText = function("errstr", ErrorText.self),
            let memoryUsed = function("memory_used", MemoryUsed.self)
        else { return nil }
        self.open = open
        self.close = close
        self.execute = execute
        self.setLimit = setLimit
        self.setProgressHandler = setProgressHandler
        self.setAuthorizer = setAuthorizer
        self.prepare = prepare
        self.step = step
        self.finalize = finalize
        self.bindInteger = bindInteger
        self.bindText = bindText
        self.columnType = columnType
        self.columnByteCount = columnByteCount
        self.columnInteger = columnInteger
        self.columnDouble = columnDouble
        self.columnText = columnText
        self.columnBlob = columnBlob
        self.registerVFS = registerVFS
        self.unregisterVFS = unregisterVFS
        self.errorText = errorText
        self.memoryUsed = memoryUsed
    }
}
