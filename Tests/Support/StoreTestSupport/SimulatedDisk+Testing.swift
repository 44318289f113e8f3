package import KVStoreCore
package import KVStoreSimulation

extension SimulatedDisk {
    package var segments: [UInt64] { snapshot().keys.sorted() }

    package func bytes(of segment: UInt64) -> [UInt8] { self[segment] ?? [] }

    /// The offset of a segment's last byte that is not zero.
    package func lastByte(of segment: UInt64) -> Int? { bytes(of: segment).lastIndex { $0 != 0 } }

    /// Changes a byte in place, as a failing drive would: every process sees it.
    package func damage(_ segment: UInt64, at offset: Int, _ change: (UInt8) -> UInt8) {
        guard var bytes = self[segment] else { return }
        bytes[offset] = change(bytes[offset])
        self[segment] = bytes
    }

    /// The same files in another place.
    package func movedCopy() -> SimulatedDisk {
        let copy = copy()
        copy.restore(snapshot())
        return copy
    }

    /// What the disk would hold after a power failure that keeps few or many of the unsynced sectors.
    package func afterPowerFailure(using random: inout SplitMix64) -> SimulatedDisk {
        let left = copy()
        let keptTenths = Int.random(in: 0...10, using: &random)
        left.powerFails { _ in Int.random(in: 0..<10, using: &random) < keptTenths }
        return left
    }
}

extension FaultPlan {
    /// What can go wrong while a log is rewritten.
    package static let faultsOfRewrite: [(call: Call, fault: Fault)] = [
        (.create, .fail(5)), (.create, .kill(after: 0)), (.sync, .fail(5)), (.remove, .fail(5)),
    ]
}
