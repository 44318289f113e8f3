import Foundation
import KVStoreCore
import SnapshotModels
import Commands
@testable import UsageState

@testable import usage_view

/// Everything that the live viewer may show at `Sample.now`.
enum LiveSample {
    static func data(_ usage: UsageData) -> LiveData {
        LiveData(
            usage: usage,
            account: LiveData.Account(
                name: "dev", daemon: "https://kvs.example.test:7443", device: "box", isFromEnvironment: false),
            server: .known([
                KnownDevice(id: "1", name: "box", isConnected: true, lastSeen: Sample.now),
                KnownDevice(
                    id: "2", name: "laptop", isConnected: false, lastSeen: Sample.now.addingTimeInterval(-7_200)),
                KnownDevice(id: "3", name: "phone", isConnected: false, lastSeen: nil),
            ]),
            keys: [
                key("com.codexbar.usage.snapshot", .data(Data("{\"a\":[1,true]}".utf8)), 60),
                key("greeting", .string("Hello, 世界 👩‍💻 e\u{301}\u{301} שלום \u{1B}[2J"), 600),
                key("size", .integer(14), 86_400),
            ], series: series)
    }

    static func model(
        _ usage: ViewModel, options: ViewOptions? = nil, change: (inout LiveData) -> Void = { _ in }
    ) -> LiveModel {
        var data = data(usage.data)
        change(&data)
        return LiveModel(data, now: usage.now, zone: usage.zone, options: options ?? LiveState().options)
    }

    static func busy() throws -> LiveModel {
        model(try Sample.model("busy-box", "busy-laptop"))
    }

    private static func key(_ name: String, _ value: PropertyListValue, _ age: Double) -> LiveData.StoredKey {
        let date = Sample.now.addingTimeInterval(-age)
        let stamp = StoreStamp(
            milliseconds: Int64(date.timeIntervalSince1970 * 1_000), counter: 1, replica: ReplicaID(rawValue: 0xB0))
        return LiveData.StoredKey(
            key: name, bytes: value.encoded(), setAt: date, stamp: stamp.description, writer: stamp.replica.description,
            isOwn: name == "size", changeCount: name == "size" ? 2 : 0, changedAt: name == "size" ? Sample.now : nil)
    }

    /// A sawtooth with a gap, resets and a reached limit.
    private static var series: [PlotSeries] {
        func date(_ hour: Int) -> Date { Sample.now.addingTimeInterval(Double(hour - 168) * 3_600) }
        let hours = (0..<168).map { hour in
            PlotSeries.Sample(
                date: date(hour), percent: (60..<70).contains(hour) ? nil : Double(hour % 48) / 47 * 100)
        }
        return [
            PlotSeries(
                providerID: "claude", account: "dev@example.test", label: "Weekly", samples: hours,
                resets: [48, 96, 144].map(date), reached: [date(143)])
        ]
    }
}

extension LiveState {
    /// Presses keys, each on the screen of a model.
    mutating func press(_ keys: [Key], _ model: LiveModel, _ size: ScreenSize) -> Outcome {
        keys.map { key in
            handle(key) {
                LiveScreen.drawing(
                    for: LiveModel(model.data, now: model.usage.now, zone: model.usage.zone, options: $0.options),
                    state: $0, size: size)
            }
        }.last ?? .nothing
    }

    mutating func type(_ text: String, _ model: LiveModel, _ size: ScreenSize) {
        _ = press(text.map { .character($0) }, model, size)
    }
}
