import KVStoreEssentials
import KVStoreCore

/// From a setter to the readers of another store on the same replica, as between two processes: through the log and
/// the directory watch.
enum WatchBenchmarks {
    static func measure(_ setting: Setting) async throws -> Findings {
        let runs = setting.runs(2_000)
        var samples: [(String, [Double])] = []
        for count in [1, 16, 256] {
            samples.append(("\(count) readers", try await take(runs, readers: count, in: setting.folder)))
        }
        let sampling = Sampling(group: "deliver a change to readers", runs: runs)
        return Findings(measurements: sampling.ratios(samples))
    }

    private static func take(
        _ runs: Int, readers: Int, in parent: String
    ) async throws -> [Double] {
        let folder = try ScratchFolder(in: parent)
        let configuration = StoreConfiguration(directory: folder.path)
        let writer = try UbiquitousKeyValueStore(configuration: configuration)
        let reader = try UbiquitousKeyValueStore(configuration: configuration)
        let (told, news) = AsyncStream.makeStream(of: Void.self)
        let tasks = (0..<readers).map { _ in
            let changes = reader.changes
            return Task { for await _ in changes { news.yield() } }
        }
        defer {
            writer.close()
            reader.close()
            for task in tasks { task.cancel() }
        }
        var arrivals = told.makeAsyncIterator()
        var samples: [Double] = []
        let clock = ContinuousClock()
        for run in 0..<runs {
            let start = clock.now
            try writer.write(.integer(Int64(run)), forKey: Values.key(run % 100).text)
            for _ in 0..<readers { await arrivals.next() }
            let elapsed = clock.now - start
            samples.append(Double(elapsed.components.seconds) * 1e9 + Double(elapsed.components.attoseconds) / 1e9)
        }
        return samples
    }
}
