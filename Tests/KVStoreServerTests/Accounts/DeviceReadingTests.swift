import ServerTestSupport
import Foundation
import LocalFiles
import Synchronization
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Devices of a file with read errors")
struct DeviceReadingTests {
    private let laptop = Device(
        id: "1", name: "laptop", account: "default", scopes: [.read], stores: nil, created: 5,
        tokenSHA256: TokenDigest(of: "laptop"))

    private let tooManyFiles = FileError(operation: "open", path: "devices.json", code: EMFILE)

    /// Fails reads of a file as long as an error is set.
    private final class FaultInjector: Sendable {
        let error = Mutex<FileError?>(nil)

        func file(in directory: TemporaryDirectory) -> DeviceFile {
            var file = DeviceFile(dataDirectory: directory.path)
            file.readContent = { [self, read = file.readContent] file throws(FileError) in
                if let error = error.withLock({ $0 }) { throw error }
                return try read(file)
            }
            return file
        }
    }

    @Test("a removal takes effect after a read error, which is logged once")
    func removal() throws {
        let directory = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: directory.path)
        try file.change { table throws(ServerError) in try table.add(laptop) }
        let faults = FaultInjector()
        let log = LogLines()
        let registry = try DeviceRegistry(faults.file(in: directory), logger: log.logger)
        #expect(registry.isCurrent(laptop))
        try file.change { table throws(ServerError) in _ = try table.remove("1", account: nil) }
        faults.error.withLock { $0 = tooManyFiles }
        for now in 1...3 {
            #expect(registry.authenticate(laptop.tokenSHA256, now: Int64(now)) == laptop)
        }
        #expect(log.all.count == 1, "\(log.all)")
        faults.error.withLock { $0 = nil }
        #expect(!registry.isCurrent(laptop))
        #expect(registry.authenticate(laptop.tokenSHA256, now: 4) == nil)
        #expect(log.all.count == 1)
    }

    @Test("a recurring error and a different one are logged again")
    func recurringErrors() throws {
        let directory = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: directory.path)
        let faults = FaultInjector()
        let log = LogLines()
        let registry = try DeviceRegistry(faults.file(in: directory), logger: log.logger)
        try file.change { table throws(ServerError) in try table.add(laptop) }
        let other = FileError(operation: "open", path: "devices.json", code: EIO)
        for error in [tooManyFiles, other] {
            faults.error.withLock { $0 = error }
            #expect(!registry.isCurrent(laptop) && !registry.isCurrent(laptop))
        }
        #expect(log.all.count == 2)
        faults.error.withLock { $0 = nil }
        #expect(registry.isCurrent(laptop))
        try file.change { table throws(ServerError) in _ = try table.remove("1", account: nil) }
        faults.error.withLock { $0 = other }
        #expect(registry.isCurrent(laptop))
        #expect(log.all.count == 3)
    }

    @Test("devices stay when their directory is moved away, which is logged once, and when it comes back")
    func movedDirectory() throws {
        let directory = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: directory.path)
        try file.change { table throws(ServerError) in try table.add(laptop) }
        let log = LogLines()
        let registry = try DeviceRegistry(file, logger: log.logger)
        let away = file.file.path + ".away"
        try FileManager.default.moveItem(atPath: file.file.path, toPath: away)
        for _ in 0..<3 { #expect(registry.isCurrent(laptop)) }
        #expect(log.all.count == 1, "\(log.all)")
        try FileManager.default.moveItem(atPath: away, toPath: file.file.path)
        #expect(registry.isCurrent(laptop))
        try file.change { table throws(ServerError) in _ = try table.remove("1", account: nil) }
        #expect(!registry.isCurrent(laptop))
    }

    @Test("an unreadable file leaves the devices, is logged once, and is read again when replaced")
    func brokenContent() throws {
        let directory = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: directory.path)
        let log = LogLines()
        let registry = try DeviceRegistry(file, logger: log.logger)
        try Data("{".utf8).write(to: URL(filePath: file.file.path))
        #expect(!registry.isCurrent(laptop) && !registry.isCurrent(laptop))
        #expect(log.all.count == 1)
        try FileManager.default.removeItem(atPath: file.file.path)
        try file.change { table throws(ServerError) in try table.add(laptop) }
        #expect(registry.isCurrent(laptop))
        #expect(log.all.count == 1)
    }

    @Test("a device can be removed on a full disk, in the space of the reserve")
    func fullDisk() throws {
        let directory = try TemporaryDirectory()
        var file = DeviceFile(dataDirectory: directory.path)
        try file.change { table throws(ServerError) in try table.add(laptop) }
        let reserve = file.file.path + ".reserve"
        #expect(try FileStatus(path: reserve)?.byteCount ?? 0 >= 65_536)
        file.writeContent = { file, data throws(FileError) in
            guard try FileStatus(path: reserve) == nil else {
                throw FileError(operation: "write", path: file.path, code: ENOSPC)
            }
            try file.replace(with: data)
        }
        try file.change { table throws(ServerError) in _ = try table.remove("1", account: nil) }
        #expect(try file.devices.isEmpty)
        #expect(try FileStatus(path: reserve) != nil)
    }

    @Test("an unreadable file leaves the devices as they were")
    func unreadable() throws {
        let directory = try TemporaryDirectory()
        let file = DeviceFile(dataDirectory: directory.path)
        try file.change { table throws(ServerError) in try table.add(laptop) }
        let registry = try DeviceRegistry(file, logger: LogLines().logger)
        try Data("{".utf8).write(to: URL(filePath: file.file.path))
        #expect(registry.authenticate(laptop.tokenSHA256, now: 1) == laptop)
    }
}

@Suite("Tokens in devices.json")
struct TokenDigestTests {
    @Test("a digest is written in base64, and read as that and as the numbers of earlier versions")
    func base64() throws {
        let digest = TokenDigest(of: "ubq_token")
        let text = String(decoding: try JSONEncoder().encode([digest]), as: UTF8.self)
        let base64 = String(text.dropFirst(2).dropLast(2)).replacing("\\/", with: "/")
        let bytes = try #require(Data(base64Encoded: base64))
        #expect(bytes.count == 32)
        let numbers = Data("[[\(bytes.map(String.init).joined(separator: ","))]]".utf8)
        for json in [Data(text.utf8), numbers] {
            #expect(try JSONDecoder().decode([TokenDigest].self, from: json) == [digest])
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([TokenDigest].self, from: Data(#"["AAAA"]"#.utf8))
        }
    }
}
