import Foundation
import KVStore
import Logging
import Synchronization

/// What the routes share: the stores, the devices, the limits.
final class Daemon: Sendable {
    let keeper: StoreKeeper
    let devices: DeviceDirectory
    let limits: EdgeLimits
    let metrics = Metrics()
    let connections = ConnectionTable()
    /// The replica id of what the daemon stamps itself.
    let replica: ReplicaID

    private struct Rates {
        var requests: BucketTable
        var failures: BucketTable
    }

    private let rates: Mutex<Rates>

    init(
        keeper: StoreKeeper, devices: DeviceDirectory, limits: EdgeLimits = EdgeLimits(),
        replica: ReplicaID
    ) {
        self.keeper = keeper
        self.devices = devices
        self.limits = limits
        self.replica = replica
        rates = Mutex(
            Rates(
                requests: BucketTable(
                    perSecond: limits.requestsPerSecond, burst: limits.requestBurst,
                    limit: DeviceTable.deviceCount),
                failures: BucketTable(
                    perSecond: limits.failedAuthenticationsPerMinute / 60,
                    burst: limits.failedAuthenticationsPerMinute, limit: limits.addressCount)))
        // So that the streams of a device that is removed end at once.
        devices.follow(by: { WatchedDirectory.watch($0, changed: $1) }) {
            [watchers = keeper.watchers] in watchers.wakeAll()
        }
    }

    /// The device that a request speaks for.
    func authenticate(authorization: String?, address: String) throws(Problem) -> Device {
        let now = DaemonClock.monotonicMilliseconds()
        if let token = Self.token(in: authorization),
            let device = devices.authenticate(token.digest, now: keeper.options.now())
        {
            if let wait = rates.withLock({ $0.requests.take(device.id, now: now) }) {
                throw .tooManyRequests(
                    waitMilliseconds: wait, perSecond: Int(limits.requestsPerSecond))
            }
            return device
        }
        metrics.count { $0.failedAuthentications += 1 }
        if let wait = rates.withLock({ $0.failures.take(address, now: now) }) {
            throw .tooManyFailures(
                waitMilliseconds: wait, perMinute: Int(limits.failedAuthenticationsPerMinute))
        }
        throw .unauthorized
    }

    private static func token(in authorization: String?) -> DeviceToken? {
        guard let authorization, authorization.utf8.count <= 256,
            authorization.prefix(7).lowercased() == "bearer "
        else { return nil }
        return DeviceToken(presented: authorization.dropFirst(7))
    }

    /// The store of a path, if the name is one and the device may see it.
    func store(_ pathSegment: String?, of device: Device) throws(Problem) -> StoreID {
        guard let name = pathSegment?.removingPercentEncoding, DaemonNames.isValidStore(name) else {
            throw .badStoreName
        }
        guard device.mayUse(store: name) else { throw .unknownStore }
        return StoreID(account: device.account, name: name)
    }
}
