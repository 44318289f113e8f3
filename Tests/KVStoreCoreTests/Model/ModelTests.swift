import Foundation
import Testing

/// Two devices, two keys, and every order of writes and messages.
///
/// Each case is searched completely, not sampled. `UBIQUITY_MODEL=full` adds the larger ones, which are meant
/// for a release build.
@Suite("Every state of a small world", .serialized)
struct ModelTests {
    /// Always searched; a debug build takes about 40 s for all of them.
    private static let small: [ModelBounds] = [
        ModelBounds(name: "4 writes, polling devices"),
        ModelBounds(name: "2 writes, live streams", writes: 2, isLive: [true, true]),
        ModelBounds(name: "2 writes, a fault", writes: 2, faults: 1),
        ModelBounds(name: "2 writes, a crash", writes: 2, crashes: 1),
        ModelBounds(name: "3 writes, a forgotten removal", writes: 3, forgettings: 1),
        ModelBounds(
            name: "2 writes, a fresh install, the daemon has a value", writes: 2, isFresh: [false, true],
            isPopulated: true), ModelBounds(name: "2 writes, two fresh installs", writes: 2, isFresh: [true, true]),
        ModelBounds(name: "3 writes, a clock 100 s ahead", writes: 3, skew: [100_000, 0]),
        ModelBounds(name: "2 writes, a clock 100 s behind", writes: 2, skew: [0, -100_000]),
        ModelBounds(name: "3 writes of equal values", writes: 3, writesEqualValues: true),
    ]

    /// Added by `UBIQUITY_MODEL=full`, the largest last.
    private static let large: [ModelBounds] = [
        ModelBounds(name: "2 writes, a fault, live streams", writes: 2, faults: 1, isLive: [true, true]),
        ModelBounds(name: "2 writes, a crash, live streams", writes: 2, crashes: 1, isLive: [true, true]),
        ModelBounds(
            name: "2 writes, a forgotten removal, live streams", writes: 2, forgettings: 1, isLive: [true, true]),
        ModelBounds(
            name: "3 writes, a forgotten removal, one live stream", writes: 3, forgettings: 1, isLive: [true, false]),
        ModelBounds(name: "4 writes, a forgotten removal", forgettings: 1),
        ModelBounds(name: "2 writes, a fault, a crash", writes: 2, faults: 1, crashes: 1),
        ModelBounds(
            name: "4 writes, a fresh install, the daemon has a value", isFresh: [false, true], isPopulated: true),
        ModelBounds(
            name: "2 writes, a fresh install, a fault and a crash", writes: 2, faults: 1,
            crashes: 1, isFresh: [false, true], isPopulated: true),
        ModelBounds(
            name: "2 writes, a fresh install with a live stream", writes: 2, isLive: [true, true],
            isFresh: [false, true], isPopulated: true),
        ModelBounds(name: "4 writes, a clock 100 s ahead", skew: [0, 100_000]),
        ModelBounds(name: "4 writes, a clock 100 s behind", skew: [0, -100_000]),
        ModelBounds(name: "4 writes of equal values", writesEqualValues: true),
        ModelBounds(name: "4 writes, one live stream", isLive: [true, false]),
        ModelBounds(name: "4 writes, a fault", faults: 1), ModelBounds(name: "4 writes, a crash", crashes: 1),
        ModelBounds(name: "4 writes, live streams", isLive: [true, true]),
    ]

    @Test("every promise holds in every state", arguments: small + (ModelSearch.isFull ? large : []))
    func holds(_ bounds: ModelBounds) throws { try ModelSearch.checkEveryState(of: bounds) }
}

extension ModelSearch {
    static let isFull = ProcessInfo.processInfo.environment["UBIQUITY_MODEL"] == "full"

    static func checkEveryState(of bounds: ModelBounds) throws {
        var search = ModelSearch()
        let time = try ContinuousClock().measure { try search.run(bounds) }
        #expect(search.isComplete)
        #expect(search.terminalCount > 0 && search.restCount >= search.terminalCount)
        print(
            "\(bounds.name): \(search.stateCount) states, \(search.stepCount) steps, "
                + "\(search.restCount) at rest, \(search.terminalCount) terminal, "
                + "depth \(search.greatestDepth), \(time)")
    }
}
