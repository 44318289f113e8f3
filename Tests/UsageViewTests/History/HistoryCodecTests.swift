import ClockZones
import Foundation
import StoreTestSupport
import SnapshotModels
import Testing

@testable import UsageState

@Suite("The stored form of history")
struct HistoryCodecTests {
    private typealias Sample = HistorySample
    private static let now = Sample.monday + 30 * Sample.day

    private static let other = HistoryCodec.encode(HistoryCodecTests().random(1, windows: 1, steps: 50))

    private func random(_ seed: UInt64, windows: Int = 3, steps: Int = 1_000) -> UsageHistory {
        var generator = SeededGenerator(seed: seed)
        return Sample.random(windows, until: Self.now, steps: steps, using: &generator)
    }

    @Test("what is encoded is decoded, and encodes to the same bytes", arguments: 0..<5)
    func roundTrip(seed: UInt64) throws {
        let history = random(seed)
        let data = HistoryCodec.encode(history)
        #expect(try HistoryCodec.decode(data) == history, "seed \(seed)")
        #expect(HistoryCodec.encode(try HistoryCodec.decode(data)) == data, "seed \(seed)")
    }

    @Test("the bytes are those of the documentation")
    func documented() throws {
        var history = UsageHistory()
        let start = Sample.monday
        for (percent, minutes) in [(10.0, 0), (10, 15), (12, 30), (100, 75), (100, 90)] {
            history.add(
                [
                    Sample.card(percent, at: start + minutes * 60, minutes: 300, resetsAt: start + 7_200, account: nil)
                ], now: Sample.date(start + minutes * 60))
        }
        history.add([], now: Sample.date(start + 7_200))
        var bytes = Array("UBQH".utf8) + [1, 1]
        bytes += [5] + Array("codex".utf8) + [0] + [12] + Array("Session (5h)".utf8)
        bytes += [0xAC, 2] + varint(start + 5_400) + [0, 0]
        // 10 %, once more, 2 points more, two gaps, 100 % reached twice, a gap, the reset.
        bytes += varint(start / 900) + [9]
        bytes += [20, 0x80, 4, 0xC1, 0xE5, 200, 0x80, 0xC0, 0xE2, 200]
        bytes += varint(start / 21_600) + [1] + [0xE6, 200]
        #expect(Array(HistoryCodec.encode(history)) == bytes)
    }

    private func varint(_ value: Int) -> [UInt8] {
        value < 128 ? [UInt8(value)] : [UInt8(value & 127) | 128] + varint(value >> 7)
    }

    @Test("60 busy windows fit 64 KiB, and the oldest slots of the idle ones go first")
    func sizeBound() throws {
        var generator = SeededGenerator(seed: 7)
        var windows: [WindowIdentity: WindowHistory] = [:]
        for index in 0..<60 {
            let isIdle = index < 20
            windows[Sample.identity((isIdle ? "idle " : "") + "L\(index)")] = Sample.full(
                until: Self.now - (isIdle ? 2 * Sample.day : 0), using: &generator)
        }
        let history = UsageHistory(windows: windows)
        #expect(history.windows.count == 60)
        for limit in [65_536, 40_000, 20_000, 3_000, 200, 0] {
            let data = HistoryCodec.encode(history, byteLimit: limit)
            #expect(data.count <= max(limit, 7), "\(limit)")
            let kept = try HistoryCodec.decode(data).windows
            if limit == 65_536 { #expect(data.count > 60_000 && kept.count == 60) }
            for (identity, window) in kept {
                let full = try #require(history.windows[identity])
                // Only from the old end.
                #expect(window.coarse.isEmpty || window.coarse.end == full.coarse.end)
                #expect(window.fine.isEmpty || window.fine.end == full.fine.end)
                if window.fine != full.fine { #expect(kept.values.allSatisfy { $0.coarse.isEmpty }) }
                // Nothing of a busy window goes before all coarse slots of the idle ones.
                if !identity.label.hasPrefix("idle"), window.coarse != full.coarse {
                    #expect(kept.allSatisfy { !$0.key.label.hasPrefix("idle") || $0.value.coarse.isEmpty })
                }
            }
        }
    }

    @Test("bytes that are no history are refused", arguments: 0..<2)
    func hostile(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let bytes = Array(HistoryCodec.encode(random(seed, windows: 2, steps: 300)))
        for count in stride(from: 0, to: bytes.count, by: 2 + Int(seed)) {
            #expect(throws: HistoryCodecError.self) { try HistoryCodec.decode(Data(bytes[..<count])) }
        }
        #expect(throws: HistoryCodecError.notAHistory) { try HistoryCodec.decode(Data(bytes + [0])) }
        #expect(throws: HistoryCodecError.notAHistory) { try HistoryCodec.decode(Data(count: 65_537)) }
        var decoded = 0
        for _ in 0..<500 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                changed[Int.random(in: 5..<changed.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            guard let history = try? HistoryCodec.decode(Data(changed)) else { continue }
            decoded += 1
            // What passes is used without a trap, as a reader and as a writer would.
            use(history)
        }
        #expect(decoded > 0, "seed \(seed)")
        for count in 0..<400 {
            let noise = (0..<count % 200).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if let history = try? HistoryCodec.decode(Data(bytes[..<6] + noise)) { use(history) }
        }
    }

    private func use(_ history: UsageHistory) {
        let read = UsageHistory(
            values: [
                UsageHistory.storeKey(deviceID: "1"): HistoryCodec.encode(history),
                UsageHistory.storeKey(deviceID: "2"): Self.other,
            ], now: Sample.date(Self.now))
        for window in [history, read].flatMap(\.windows.values) {
            _ = HistorySummary(window.timeline, since: 0, now: Self.now)
            _ = WorkingHours(history: window, length: 18_000, before: Self.now, zone: .fixed(secondsFromGMT: 0))
        }
        var recorder = HistoryRecorder(stored: HistoryCodec.encode(history))
        _ = recorder.record(Sample.snapshot([Sample.card(5, at: Self.now, resetsAt: nil, label: "L0")], at: Self.now))
    }

    @Test("numbers past their bounds are refused: counts, times, names")
    func bounds() {
        let head = Array("UBQH".utf8) + [1, 1, 1, 99, 0, 1, 88, 0]
        let empty: [UInt8] = [0, 0, 0, 0]
        func decodes(_ rest: [UInt8]) -> Bool { (try? HistoryCodec.decode(Data(head + rest))) != nil }
        #expect(decodes([0, 0, 0] + empty))
        // Times after the year 9999, a level above 127 %.
        #expect(!decodes([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0, 0] + empty))
        #expect(!decodes([0, 255, 0] + empty))
        #expect(!decodes([0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 1, 20, 0, 0]))
        // 673 slots; fewer and more tokens than slots; a repeated gap; a level below 0; a reserved token.
        #expect(!decodes([0, 0, 0, 1, 0xA1, 5] + [UInt8](repeating: 0xBF, count: 11) + [0, 0]))
        #expect(!decodes([0, 0, 0, 1, 2, 20, 0, 0]))
        #expect(!decodes([0, 0, 0, 1, 2, 20, 0x82, 0, 0]))
        #expect(!decodes([0, 0, 0, 1, 2, 0xC0, 0x80, 0, 0]))
        #expect(!decodes([0, 0, 0, 1, 1, 0x7F, 0, 0]))
        #expect(!decodes([0, 0, 0, 1, 1, 0xF0, 0, 0]))
        #expect(!decodes([0, 0, 0, 1, 1, 0xE0, 0, 0]))
        #expect(decodes([0, 0, 0, 1, 2, 20, 0x80, 0, 0]))
    }

    @Test("a later version is recognized, and not overwritten")
    func laterVersion() {
        let data = Data("UBQH".utf8) + [2, 1, 2, 3]
        #expect(throws: HistoryCodecError.newer(version: 2)) { try HistoryCodec.decode(data) }
        var recorder = HistoryRecorder(stored: data)
        let snapshot = Sample.snapshot([Sample.card(5, at: Self.now, resetsAt: nil)], at: Self.now)
        #expect(recorder.record(snapshot) == nil)
        var other = HistoryRecorder(stored: Data("UBQX".utf8))
        #expect(other.record(snapshot) != nil)
    }
}
