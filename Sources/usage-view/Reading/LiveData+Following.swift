extension LiveData {
    /// What `read` gives, now and whenever one of two sources has news; ends when both have. A slow reader gets only the
    /// newest.
    ///
    /// News only says that something has happened. One task reads at a time, after the news that made it
    /// read, so what is given last is the state after the last news, whichever source had it.
    static func following<Connections: Sendable, Changes: Sendable>(
        _ connections: AsyncStream<Connections>, _ changes: AsyncStream<Changes>,
        read: @escaping @Sendable () async -> LiveData
    ) -> AsyncStream<LiveData> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: LiveData.self, bufferingPolicy: .bufferingNewest(1))
        let (looks, look) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        look.yield()
        let following = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await _ in looks { continuation.yield(await read()) }
                }
                await withTaskGroup(of: Void.self) { news in
                    news.addTask { for await _ in connections { look.yield() } }
                    news.addTask { for await _ in changes { look.yield() } }
                }
                look.finish()
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in following.cancel() }
        return stream
    }
}
