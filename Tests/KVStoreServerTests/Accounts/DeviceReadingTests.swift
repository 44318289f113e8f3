import Foundation
import Logging
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

@testable import KVStoreServer

@Suite("Devices of a file that cannot always be read")
struct DeviceReadingTests {
    private let laptop = Device(
        id: "1", name: "laptop", account: "default", scopes: [.read], stores: nil, created: 5,
        digest: TokenDigest(of: "laptop"))

    private let tooManyFiles = PrivateFile.Failure(
        operation: "open", path: "devices.json", code: EMFILE, message: "too many open files")

    /// A file as it is, whose reading fails as long as the system has `failure` to tell.
    private final class Trouble: Sendable {
        let failure = Mutex<PrivateFile.Failure?>(nil)

        func file(in folder: TemporaryDirectory) -> DeviceFile {
            DeviceFile(dataDirectory: folder.path) {
                [self] path, byteCount throws(PrivateFile.Failure) in
                if let failure = failure.withLock({ $0 }) { throw failure }
                return try PrivateFile.read(path, byteCount: byteCount)
            }
        }
    }

    /// Keeps what is logged.
    private final class Notes: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        var logger: Logger { Logger(label: "test") { _ in Handler(notes: self) } }

        private struct Handler: LogHandler {
            let notes: Notes
            var metadata = Logger.Metadata()
            var logLevel = Logger.Level.trace

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                notes.lines.withLock { $0.append("\(event.message)") }
            }
        }
    }

    @Test("a removal is noticed although the file could not be read when it was first seen")
    func removal() throws {
        let folder = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: folder.path)
        try file.change { table throws(DeviceError) in try table.add(laptop) }
        let trouble = Trouble()
        let notes = Notes()
        let directory = try DeviceRegistry(trouble.file(in: folder), logger: notes.logger)
        #expect(directory.isCurrent(laptop))
        try file.change { table throws(DeviceError) in _ = try table.remove("1", account: nil) }
        trouble.failure.withLock { $0 = tooManyFiles }
        for now in 1...3 {
            #expect(directory.authenticate(laptop.digest, now: Int64(now)) == laptop)
        }
        #expect(notes.all.count == 1, "\(notes.all)")
        trouble.failure.withLock { $0 = nil }
        #expect(!directory.isCurrent(laptop))
        #expect(directory.authenticate(laptop.digest, now: 4) == nil)
        #expect(notes.all.count == 1)
    }

    @Test("a trouble that comes back, and another one, are told again")
    func troubles() throws {
        let folder = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: folder.path)
        let trouble = Trouble()
        let notes = Notes()
        let directory = try DeviceRegistry(trouble.file(in: folder), logger: notes.logger)
        try file.change { table throws(DeviceError) in try table.add(laptop) }
        var other = tooManyFiles
        other.code = EIO
        for failure in [tooManyFiles, other] {
            trouble.failure.withLock { $0 = failure }
            #expect(!directory.isCurrent(laptop) && !directory.isCurrent(laptop))
        }
        #expect(notes.all.count == 2)
        trouble.failure.withLock { $0 = nil }
        #expect(directory.isCurrent(laptop))
        try file.change { table throws(DeviceError) in _ = try table.remove("1", account: nil) }
        trouble.failure.withLock { $0 = other }
        #expect(directory.isCurrent(laptop))
        #expect(notes.all.count == 3)
    }

    @Test("a file whose content is no use is complained about once, and read again when replaced")
    func brokenContent() throws {
        let folder = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: folder.path)
        let notes = Notes()
        let directory = try DeviceRegistry(file, logger: notes.logger)
        try Data("{".utf8).write(to: URL(filePath: file.path))
        #expect(!directory.isCurrent(laptop) && !directory.isCurrent(laptop))
        #expect(notes.all.count == 1)
        try FileManager.default.removeItem(atPath: file.path)
        try file.change { table throws(DeviceError) in try table.add(laptop) }
        #expect(directory.isCurrent(laptop))
        #expect(notes.all.count == 1)
    }
}
