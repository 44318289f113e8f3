import Testing

/// The same devices with two stateless daemons on one database.
///
/// Requests arrive at either node, so a device changes to the other one at any time. As in `ModelTests` each case is
/// searched completely, and `UBIQUITY_MODEL=full` adds the larger ones.
@Suite("Every state of a small world with two nodes", .serialized)
struct NodeModelTests {
    private static func nodes(
        _ name: String, writes: Int = 2, _ configure: (inout ModelBounds) -> Void = { _ in }
    ) -> ModelBounds {
        var bounds = ModelBounds(name: "nodes: " + name, engine: .nodes, writes: writes)
        configure(&bounds)
        return bounds
    }

    private static let failover = nodes("1 write, a failover", writes: 1) { $0.failovers = 1 }
    private static let failoverOfStream = nodes("1 write, a failover, a live stream", writes: 1) {
        $0.failovers = 1
        $0.isLive = [true, false]
    }
    private static let stream = nodes("2 writes, a live stream") { $0.isLive = [true, false] }
    private static let forgotten = nodes("2 writes, a forgotten removal") { $0.forgettings = 1 }
    private static let cut = nodes("1 write, a cut connection or a slow read", writes: 1) {
        $0.nodeFaults = 1
    }
    private static let restart = nodes("1 write, a restart, a live stream", writes: 1) {
        $0.restarts = 1
        $0.isLive = [true, false]
    }
    private static let streamFault = nodes("1 write, a fault, live streams", writes: 1) {
        $0.faults = 1
        $0.isLive = [true, true]
    }

    /// Always searched; a debug build takes about 6 s for all of them.
    private static let small = [
        nodes("2 writes, polling devices"), stream, cut, restart, streamFault, forgotten, failover,
    ]

    private static let forgottenInStream = nodes("2 writes, a forgotten removal, a live stream") {
        $0.forgettings = 1
        $0.isLive = [true, false]
    }
    private static let longForgotten = nodes("3 writes, a forgotten removal", writes: 3) {
        $0.forgettings = 1
    }
    private static let cutFailover = nodes("1 write, a failover, a cut connection", writes: 1) {
        $0.failovers = 1
        $0.nodeFaults = 1
    }
    private static let failovers = nodes("1 write, two failovers", writes: 1) { $0.failovers = 2 }
    private static let slowFailover = nodes("1 write, a failover, a slow read, a live stream", writes: 1) {
        $0.failovers = 1
        $0.nodeFaults = 1
        $0.isLive = [true, false]
    }

    /// Added by `UBIQUITY_MODEL=full`, the largest last.
    private static let large: [ModelBounds] = [
        nodes("2 writes, a fresh install, the database has a value") {
            $0.isFresh = [false, true]
            $0.isPopulated = true
        },
        failoverOfStream,
        nodes("1 write, a restart, live streams", writes: 1) {
            $0.restarts = 1
            $0.isLive = [true, true]
        },
        nodes("2 writes, live streams") { $0.isLive = [true, true] }, forgottenInStream,
        nodes("2 writes, a restart") { $0.restarts = 1 },
        nodes("2 writes, a cut connection or a slow read") { $0.nodeFaults = 1 },
        nodes("1 write, a failover, live streams", writes: 1) {
            $0.failovers = 1
            $0.isLive = [true, true]
        },
        nodes("2 writes, a fault") { $0.faults = 1 },
        nodes("1 write, a failover, a restart", writes: 1) {
            $0.failovers = 1
            $0.restarts = 1
        },
        nodes("3 writes, polling devices", writes: 3),
        nodes("2 writes, a forgotten removal, a cut connection") {
            $0.forgettings = 1
            $0.nodeFaults = 1
        },
        cutFailover,
        nodes("2 writes, a cut connection, a live stream") {
            $0.nodeFaults = 1
            $0.isLive = [true, false]
        },
        nodes("1 write, a failover, a crash", writes: 1) {
            $0.failovers = 1
            $0.crashes = 1
        },
        longForgotten, failovers,
        nodes("1 write, a failover, a fault", writes: 1) {
            $0.failovers = 1
            $0.faults = 1
        },
        nodes("2 writes, a fault, a live stream") {
            $0.faults = 1
            $0.isLive = [true, false]
        },
        nodes("3 writes, a live stream", writes: 3) { $0.isLive = [true, false] },
        nodes("2 writes, a failover") { $0.failovers = 1 },
        nodes("2 writes, a failover, a forgotten removal") {
            $0.failovers = 1
            $0.forgettings = 1
        },
        nodes("2 writes, a failover, a live stream") {
            $0.failovers = 1
            $0.isLive = [true, false]
        },
    ]

    @Test("every promise holds in every state", arguments: small + (ModelSearch.isFull ? large : []))
    func holds(_ bounds: ModelBounds) throws { try ModelSearch.checkEveryState(of: bounds) }

    private static func bounds(of bug: PlantedBug) -> ModelBounds {
        var bounds =
            switch bug {
            case .commitsWithoutRevision, .pullsFromCache: nodes("2 writes")
            case .commitsWithoutHorizon: longForgotten
            case .commitsWithoutGeneration, .doesNotVerifyEmptyPlans, .answersFromLaterGeneration,
                .keepsCacheOverFailover, .keepsEpochOverFailover, .doesNotBreakEpochs:
                failover
            case .comparesStoreGenerationOnly: cutFailover
            case .countsGenerations: failovers
            case .answersBeforeCommit, .takesLostOutcomeForSuccess: cut
            case .answersFromMovedCache: forgottenInStream
            case .appliesPlanToMovedCache, .neverSweeps: stream
            case .opensStreamWithoutRefresh: streamFault
            case .sweepComparesRevisionsOnly, .keepsStreamsOverFailover: failoverOfStream
            case .appliesOlderRead: slowFailover
            case .ignoresHorizon: forgotten
            }
        bounds.bug = bug
        return bounds
    }

    /// Found only after thousands of states.
    private static let rare: [PlantedBug] = [
        .answersFromMovedCache, .sweepComparesRevisionsOnly, .keepsStreamsOverFailover,
    ]

    @Test(
        "a broken rule of the nodes breaks a promise",
        arguments: PlantedBug.allCases.filter { ModelSearch.isFull || !rare.contains($0) })
    func finds(_ bug: PlantedBug) throws {
        var search = ModelSearch()
        let violation = try #require(throws: ModelViolation.self) {
            try search.run(Self.bounds(of: bug))
        }
        print("\(bug): \(search.stateCount) states, \(violation.promise)")
    }
}
