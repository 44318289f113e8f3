import Dispatch
import Essentials
import Synchronization

/// What the allocator keeps of freed memory.
enum HeapMemory {
    private static let isScheduled = Mutex(false)
    /// Only glibc has it; other allocators give pages back by themselves.
    private static let trim = dlsym(nil, "malloc_trim").map {
        unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
    }

    /// Gives free pages back to the system in ten seconds. Safe to call from any thread and often.
    static func giveBackLater() {
        guard let trim else { return }
        let isFirst = isScheduled.withLock { isScheduled in
            defer { isScheduled = true }
            return !isScheduled
        }
        guard isFirst else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + 10) {
            isScheduled.withLock { $0 = false }
            _ = trim(0)
        }
    }
}
