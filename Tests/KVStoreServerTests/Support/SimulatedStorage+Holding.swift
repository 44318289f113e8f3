import Dispatch
import KVStoreSimulation
import Synchronization

extension SimulatedStorage {
    /// Holds up the next syncs, so many of them, until `gate` is signalled for each; `began` has an element for each
    /// that begins. Those behind them fail with `code`, or go through.
    func holdSyncs(
        _ count: Int = .max, thenFailWith code: Int32? = nil
    ) -> (gate: DispatchSemaphore, began: AsyncStream<Void>) {
        let gate = DispatchSemaphore(value: 0)
        let (began, signal) = AsyncStream.makeStream(of: Void.self)
        let left = Mutex(count)
        duringSync.withLock {
            $0 = {
                let isHeld = left.withLock { left in
                    left -= 1
                    return left >= 0
                }
                guard isHeld else { return code }
                signal.yield()
                gate.wait()
                return nil
            }
        }
        return (gate, began)
    }

    /// Holds up the creation of segments until `gate` is signalled for each; `began` has an element for each that
    /// begins.
    func holdCreations() -> (gate: DispatchSemaphore, began: AsyncStream<Void>) {
        let gate = DispatchSemaphore(value: 0)
        let (began, signal) = AsyncStream.makeStream(of: Void.self)
        duringCreation.withLock {
            $0 = {
                signal.yield()
                gate.wait()
            }
        }
        return (gate, began)
    }

    /// Holds up no further syncs.
    func releaseSyncs() { duringSync.withLock { $0 = nil } }
}
