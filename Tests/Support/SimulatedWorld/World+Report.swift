import KVStoreSimulation

/// How often something happened in a world.
package struct FaultCount: Sendable, Equatable {
    package var name: String
    package var count: Int
}

extension World {
    /// Faults that took effect, by class, in the order of a report.
    package var faultCounts: [FaultCount] {
        var injected = daemon.disk.injected
        for device in devices { injected.merge(device.disk.injected, uniquingKeysWith: +) }
        func count(_ name: String, _ kinds: String...) -> FaultCount {
            FaultCount(name: name, count: kinds.reduce(0) { $0 + (counts[$1] ?? 0) + (injected[$1] ?? 0) })
        }
        return [
            count("program killed between two calls", "kill"),
            count("program or daemon killed within a write", "killed in a write"),
            count("power failure of a device", "power failure"), count("daemon killed", "daemon kill"),
            count("power failure of the daemon", "daemon power failure"),
            count("unsynced sectors decided on", "unsynced sector lost or kept"), count("sync failed", "sync failed"),
            count("n-th call failed", "call failed"), count("write failed halfway", "write failed halfway"),
            count("disk full", "disk full"),
            count("program or daemon went on after a failure", "went on after a failed call"),
            count("bit flipped in a replica", "bit flip"), count("bit flipped in the daemon's log", "daemon bit flip"),
            count("write of the daemon cut at its start", "write of the daemon cut"),
            count("damaged log of the daemon replaced", "daemon replaced"), count("message lost", "lost message"),
            count("message late", "late message"), count("message held", "held message"),
            count("message of an offline device lost", "message of an offline device"),
            count("request doubled", "doubled request"), count("request failed by the network", "failed request"),
            count("request throttled", "throttled request"),
            count("request that nobody waits for", "request that nobody waits for"),
            count("network fault injected", "network fault"),
            count("end of a stream noticed late", "end of a stream noticed late"), count("slow reader", "slow reader"),
            count("clock of a device stepped", "clock"), count("clock of the daemon stepped", "daemon clock"),
            count("stamp refused by the daemon", "clock refusal"), count("removal forgotten", "forget"),
            count("daemon restored from a backup", "restore"),
            count("replica restored from a backup", "replica restored"),
            count("replica copied to another machine", "replica copied"), count("replica lost", "reinstall"),
            count("account came or went", "account"), count("write refused by the quota", "write against the quota"),
        ]
    }

    /// What the world did besides.
    package var workCounts: [FaultCount] {
        [
            ("writes", "write"), ("writes of several keys", "write of several keys"),
            ("writes of an equal value", "equal write"), ("requests", "request"), ("notifications", "notify"),
            ("starts of a program", "start"), ("starts of the daemon", "daemon"),
            ("requests that waited for a segment", "wait for a segment"),
            ("compaction steps of the daemon", "compaction step"),
        ].map { FaultCount(name: $0.0, count: counts[$0.1] ?? 0) }
    }
}
