import Testing

@Suite("Every state of a small world")
struct ModelTests {
    @Test("probe", arguments: [2, 3])
    func probe(writes: Int) throws {
        for live in [[false, false], [true, true], [true, false]] {
            var search = ModelSearch()
            let clock = ContinuousClock()
            let time = try clock.measure {
                try search.run(ModelBounds(name: "probe", writes: writes, isLive: live))
            }
            print(writes, live, search.stateCount, search.stepCount, search.restCount, search.terminalCount, search.greatestDepth, time)
        }
    }
}
