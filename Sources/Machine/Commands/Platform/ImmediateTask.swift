/// Starts a task, on the calling thread as long as it waits for nothing where the system can: most commands need no
/// other one. To be called on the main thread.
func startHere(_ body: @escaping @MainActor () async -> Void) {
    #if os(Linux)
        Task.immediate { @MainActor in await body() }
    #else
        Task { @MainActor in await body() }
    #endif
}
