import CShims
import Essentials
import LocalFiles

/// A file system for SQLite that consists of a pass's open files: a database and perhaps its write-ahead log.
///
/// It opens nothing, takes no lock, shares no memory and cannot write, create or remove: whatever SQLite decides to do,
/// the tool does not notice it. Registered as long as it exists; it must outlive its connections.
///
final class SQLiteFileSystem {
    let name: String
    private let library: SQLiteLibrary
    private let pass: SQLitePass
    private let table: UnsafeMutablePointer<sqlite_vfs>
    private let nameBytes: UnsafeMutablePointer<CChar>

    /// Nil when SQLite refuses to register it.
    init?(_ pass: SQLitePass, in library: SQLiteLibrary) {
        self.pass = pass
        self.library = library
        table = .allocate(capacity: 1)
        name = "usage-push-\(UInt(bitPattern: table))"
        nameBytes = name.withCString { strdup($0) }
        table.initialize(
            to: sqlite_vfs(
                version: 1,
                file_byte_count: CInt(MemoryLayout<sqlite_file>.stride),
                path_byte_limit: 64,
                next: nil,
                name: nameBytes,
                context: Unmanaged.passUnretained(pass).toOpaque(),
                open: { vfs, _, file, flags, actual in SQLiteFileSystem.openFile(vfs, file, flags, actual) },
                delete_file: { _, _, _ in SQLiteCode.readOnly },
                access: { vfs, name, _, result in
                    // There is no other file than the log.
                    let exists =
                        SQLiteFileSystem.pass(vfs.pointee.context).log != nil && String(cString: name).hasSuffix("-wal")
                    result.pointee = exists ? 1 : 0
                    return SQLiteCode.ok
                },
                full_path_name: { _, path, count, result in
                    guard strlen(path) < Int(count) else { return SQLiteCode.cannotOpen }
                    strcpy(result, path)
                    return SQLiteCode.ok
                },
                dl_open: { _, _ in nil },
                dl_error: { _, _, _ in },
                dl_sym: { _, _, _ in nil },
                dl_close: { _, _ in },
                randomness: { _, _, _ in 0 },
                sleep: { _, _ in 0 },
                current_time: { _, result in
                    result.pointee = 2_440_587.5
                    return SQLiteCode.ok
                },
                get_last_error: { _, _, _ in 0 }))
        guard library.call.vfs_register(table, 0) == SQLiteCode.ok else { return nil }
    }

    deinit {
        _ = library.call.vfs_unregister(table)
        table.deinitialize(count: 1)
        table.deallocate()
        free(nameBytes)
    }

    nonisolated(unsafe) private static let methods: UnsafePointer<sqlite_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite_io_methods>.allocate(capacity: 1)
        methods.initialize(
            to: sqlite_io_methods(
                version: 1,
                close: { _ in SQLiteCode.ok },
                read: { SQLiteFileSystem.read($0, $1, $2, $3) },
                write: { _, _, _, _ in SQLiteCode.readOnly },
                truncate: { _, _ in SQLiteCode.readOnly },
                sync: { _, _ in SQLiteCode.ok },
                file_size: { SQLiteFileSystem.size($0, $1) },
                lock: { _, _ in SQLiteCode.ok },
                unlock: { _, _ in SQLiteCode.ok },
                check_reserved_lock: { _, result in
                    result.pointee = 0
                    return SQLiteCode.ok
                },
                file_control: { _, _, _ in SQLiteCode.notFound },
                sector_size: { _ in 4_096 },
                // Without a log nothing but the database file counts.
                device_characteristics: { file in
                    SQLiteFileSystem.pass(file.pointee.pass).log == nil ? SQLiteCode.immutable : 0
                }))
        return UnsafePointer(methods)
    }()

    private static func pass(_ context: UnsafeMutableRawPointer) -> SQLitePass {
        Unmanaged<SQLitePass>.fromOpaque(context).takeUnretainedValue()
    }

    private static func openFile(
        _ vfs: UnsafeMutablePointer<sqlite_vfs>, _ file: UnsafeMutablePointer<sqlite_file>, _ flags: CInt,
        _ actualFlags: UnsafeMutablePointer<CInt>?
    ) -> CInt {
        // SQLite closes what has methods, even if it could not be opened.
        file.pointee.methods = nil
        let context = vfs.pointee.context
        let isLog = flags & SQLiteCode.openLog != 0
        guard isLog ? pass(context).log != nil : flags & SQLiteCode.openMainDatabase != 0 else {
            return SQLiteCode.cannotOpen
        }
        file.initialize(to: sqlite_file(methods: methods, pass: context, is_log: isLog))
        actualFlags?.pointee = (flags & ~0x6) | SQLiteCode.openReadOnly
        return SQLiteCode.ok
    }

    private static func open(_ file: UnsafeMutablePointer<sqlite_file>) -> (pass: SQLitePass, file: OpenFile)? {
        let pass = pass(file.pointee.pass)
        return (file.pointee.is_log ? pass.log : pass.database).map { (pass, $0) }
    }

    private static func read(
        _ file: UnsafeMutablePointer<sqlite_file>, _ buffer: UnsafeMutableRawPointer, _ count: CInt, _ offset: Int64
    ) -> CInt {
        guard let (pass, file) = open(file), count >= 0, offset >= 0 else { return SQLiteCode.ioError }
        let bytes = UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
        guard let got = pass.read(file, into: bytes, at: offset) else { return SQLiteCode.ioError }
        if got == bytes.count { return SQLiteCode.ok }
        memset(buffer + got, 0, bytes.count - got)
        return SQLiteCode.shortRead
    }

    private static func size(_ file: UnsafeMutablePointer<sqlite_file>, _ result: UnsafeMutablePointer<Int64>) -> CInt {
        guard let (_, file) = open(file) else { return SQLiteCode.ioError }
        do throws(FileError) {
            result.pointee = try file.currentStatus().byteCount
            return SQLiteCode.ok
        } catch {
            return SQLiteCode.ioError
        }
    }
}
