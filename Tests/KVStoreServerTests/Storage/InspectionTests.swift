import Foundation
import KVStoreCore
import KVStoreLedger
import KVStoreLog
import ServerTestSupport
import StoreTestSupport
import Testing

@testable import KVStoreServer

@Suite("Inspection of a data directory")
struct InspectionTests {
    private let parent = try! TemporaryDirectory()
    private var directory: DataDirectory { DataDirectory(parent.path) }
    private var segment: String { directory.logPath + "/0000000000000001.log" }

    /// A log with a record for each of three starts; nothing in the last one proves the record before it durable.
    private func fill() throws {
        for index in 0..<3 {
            let ledger = try Ledger(storage: directory.lockedStorage(), seed: 1)
            _ = try ledger.apply(
                Samples.request([Samples.change("k\(index)")]),
                to: StoreID(account: "default", name: "s"), now: Samples.now)
            try ledger.close()
        }
        try Data("left".utf8).write(to: URL(filePath: directory.logPath + "/spare"))
    }

    private func change(_ body: (inout Data) throws -> Void) throws {
        var data = try #require(FileManager.default.contents(atPath: segment))
        try body(&data)
        let file = try FileHandle(forWritingTo: URL(filePath: segment))
        try file.write(contentsOf: data)
        try file.close()
    }

    private struct File: Equatable {
        var data: Data
        var modified: Date?
    }

    /// Every file with its bytes and the time of its last change.
    private func files() throws -> [String: File] {
        var files: [String: File] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: parent.path) {
            let path = parent.path + "/" + name
            files[name] = File(
                data: FileManager.default.contents(atPath: path) ?? Data(),
                modified: try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
                    as? Date)
        }
        return files
    }

    enum Fault: CaseIterable { case none, tornTail, damage, header, missingSegment }

    @Test("it changes no byte, time or name, and finds what is there", arguments: Fault.allCases)
    func readOnly(fault: Fault) throws {
        try fill()
        switch fault {
        case .none: break
        case .tornTail:
            try change { data in
                let place = try #require(data.firstRange(of: Data("k2value".utf8)))
                data[place.lowerBound] ^= 1
            }
        case .damage:
            try change { data in
                for key in ["k0value", "k1value"] {
                    data[try #require(data.firstRange(of: Data(key.utf8))).lowerBound] ^= 1
                }
            }
        case .header: try change { $0[20] ^= 1 }
        case .missingSegment:
            try FileManager.default.copyItem(atPath: segment, toPath: directory.logPath + "/0000000000000003.log")
        }
        let before = try files()
        let (found, isInUse) = try directory.inspect()
        #expect(try files() == before)
        #expect(!isInUse)
        #expect(found.findings.isEmpty == (fault == .none))
        #expect(found.findings.allSatisfy { $0.path.hasPrefix(directory.logPath) })
        switch fault {
        case .none: #expect(found.stores.map(\.hub.keyCount) == [3])
        case .tornTail:
            #expect(found.recovery.tornTail?.path == segment && found.recovery.damage.isEmpty)
            #expect(found.stores.map(\.hub.keyCount) == [2])
        case .damage: #expect(found.recovery.damage.count == 2)
        case .header: #expect(found.recovery.damage.first?.offset == 0)
        case .missingSegment: #expect(found.findings.count >= 2)
        }
    }

    @Test("it works beside a server that uses the directory")
    func inUse() throws {
        try fill()
        let ledger = try Ledger(storage: directory.lockedStorage(), seed: 2)
        let (found, isInUse) = try directory.inspect()
        #expect(isInUse && found.findings.isEmpty && found.stores.count == 1)
        try ledger.close()
    }
}
