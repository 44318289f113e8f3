/// Visits every reachable state of a world once, depth first.
struct ModelSearch {
    private(set) var stateCount = 0
    private(set) var stepCount = 0
    /// States in which nothing is under way.
    private(set) var restCount = 0
    /// States in which nothing more can happen: all writes are made, nothing is under way.
    private(set) var terminalCount = 0
    private(set) var greatestDepth = 0
    /// Whether no state was left unvisited.
    private(set) var isComplete = false

    private struct Frame {
        var world: ModelWorld
        var digest: StateDigest
        var steps: [ModelStep]
        var next = 0
    }

    /// Whether the state lies on the path to the present one, or is finished.
    private enum Visit { case onPath, done }

    private var visits: [StateDigest: Visit] = [:]
    private var path: [Frame] = []

    /// Throws a `ModelViolation` with the path to it when a promise is broken.
    mutating func run(_ bounds: ModelBounds) throws {
        let first = try ModelWorld(bounds)
        try enter(first, first.digest())
        while !path.isEmpty {
            let last = path.count - 1
            guard path[last].next < path[last].steps.count else {
                visits[path[last].digest] = .done
                path.removeLast()
                continue
            }
            let step = path[last].steps[path[last].next]
            path[last].next += 1
            stepCount += 1
            do {
                var world = path[last].world
                try world.take(step)
                let digest = world.digest()
                switch visits[digest] {
                case .done: continue
                case .onPath: throw ModelViolation(promise: "no course of events is a cycle", detail: "")
                case nil: try enter(world, digest)
                }
            } catch var violation as ModelViolation {
                violation.path = path.map { $0.steps[$0.next - 1] }
                throw violation
            }
        }
        isComplete = path.isEmpty
    }

    private mutating func enter(_ world: ModelWorld, _ digest: StateDigest) throws {
        try world.check()
        let steps = world.steps()
        if !steps.contains(where: \.isProgress) {
            try world.checkRest()
            restCount += 1
        }
        if steps.isEmpty { terminalCount += 1 }
        stateCount += 1
        visits[digest] = .onPath
        path.append(Frame(world: world, digest: digest, steps: steps))
        greatestDepth = max(greatestDepth, path.count)
    }
}
