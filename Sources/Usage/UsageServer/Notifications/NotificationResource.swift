import Essentials
import KVStoreEssentials
import KVStoreServer
import KVStoreWire
import LocalFiles
import Logging
import NIOHTTP1
import OutgoingHTTP
import UsageState

/// The resources `/v1/notifications` and `/v1/notifications/test` of a server: a device subscribes itself.
struct NotificationResource: AdditionalResource {
    enum Kind { case subscriptions, test }

    /// Bounds what requests may do at a time.
    struct Gate {
        let requests = RequestGate(limit: 16)
        /// Tests by device: three at once, then one in ten seconds.
        let tests = RateLimiter(perSecond: 0.1, burst: 3, limit: 1_000)
    }

    let kind: Kind
    let service: NotificationService
    let gate: Gate

    var template: String { kind == .test ? "/v1/notifications/test" : "/v1/notifications" }
    var methods: [HTTPMethod] { kind == .test ? [.POST] : [.GET, .HEAD, .PUT, .DELETE] }
    var needsToken: Bool { true }
    var bodyByteLimit: Int? { 16_384 }

    func respond(
        to request: Request, by server: StoreServer, on loop: WatcherRegistry,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        let device = try request.caller(.read)
        _ = try request.store(StoreConfiguration.defaultStoreName[...], .read)
        if kind == .test, let wait = gate.tests.take(device.id) { throw .tooManyTests(waitMilliseconds: wait) }
        var change = Change()
        if request.method == .PUT {
            try request.checkJSON()
            change = try StoreServer.decode(request.body, depthLimit: 8)
        }
        let finish = try gate.requests.admit(on: loop, complete)
        let method = request.method
        Task { [change] in finish(await result(of: method, change, device, server)) }
    }

    /// The body of a `PUT`.
    private struct Change: Decodable {
        var subscription: PushSubscription?
        var settings: NotificationSettings?
    }

    private struct State: Encodable {
        var publicKey: String
        var subscriptions: Int
        var settings: NotificationSettings
    }

    private struct TestResult: Encodable {
        var sent: Int
        var ended: Int
        var failures: [String]
    }

    private func result(
        of method: HTTPMethod, _ change: Change, _ device: Device, _ server: StoreServer
    ) async -> Result<Answer, Problem> {
        do throws(Problem) {
            return .success(try await answer(method, change, device, server))
        } catch {
            return .failure(error)
        }
    }

    private func answer(
        _ method: HTTPMethod, _ change: Change, _ device: Device, _ server: StoreServer
    ) async throws(Problem) -> Answer {
        switch (kind, method) {
        case (.test, _): return try await sendTest(device)
        case (_, .DELETE):
            try files { () throws(FileError) in try service.changeTable { $0.remove(device: device.id) } }
            return .noContent
        case (_, .PUT): try await apply(change, device, server)
        default: break
        }
        return try files { () throws(FileError) in
            let table = try service.files.table
            return .json(
                State(
                    publicKey: try service.files.key.publicText,
                    subscriptions: table.subscriptions(ofDevice: device.id).count,
                    settings: table.settings(of: device.account)))
        }
    }

    private func apply(_ change: Change, _ device: Device, _ server: StoreServer) async throws(Problem) {
        if let endpoint = change.subscription?.endpoint {
            do throws(DeliveryError) { try await service.check(endpoint) } catch {
                // Who asks learns nothing about the network of the daemon.
                service.logger.info("a subscription was refused: \(error)")
                throw .badEndpoint
            }
        }
        // It may have been removed meanwhile.
        guard server.isCurrent(device) else { throw .unauthorized }
        let isAdded = try files { () throws(FileError) in
            try service.changeTable { table in
                if let subscription = change.subscription, !table.add(subscription, for: device) { return false }
                if let settings = change.settings { table.set(settings, of: device.account) }
                return true
            }
        }
        guard isAdded else { throw .tooManySubscriptions }
    }

    private func sendTest(_ device: Device) async throws(Problem) -> Answer {
        let own = try files { () throws(FileError) in try service.files.table.subscriptions(ofDevice: device.id) }
        guard !own.isEmpty else { throw .noSubscription }
        let payload = NotificationPayload(testAt: service.clock.date())
        let message = payload.message(urgency: .high, secondsToLive: 60)
        let outcomes = await service.send(message, to: own, repeats: false)
        return .json(
            TestResult(
                sent: outcomes.count { $0 == .accepted }, ended: outcomes.count { $0 == .gone },
                failures: outcomes.compactMap { if case .failed(let error) = $0 { error.reason } else { nil } }))
    }

    private func files<Value>(_ body: () throws(FileError) -> Value) throws(Problem) -> Value {
        guard let value = service.report(body) else { throw .notificationsFailed }
        return value
    }
}

extension Problem {
    fileprivate static let badEndpoint = Problem(
        400, "bad-endpoint", "Unusable push service", detail: "the endpoint is not an https:// address on the internet",
        hint: "to use a push service of your own, set push-private-hosts on the server")

    fileprivate static let noSubscription = Problem(
        404, "no-subscription", "No subscription", detail: "this device has not subscribed to notifications",
        hint: "allow notifications in the browser, and PUT /v1/notifications")

    fileprivate static let tooManySubscriptions = Problem(
        409, "too-many-subscriptions", "Too many subscriptions",
        detail:
            "an account may have \(NotificationTable.subscriptionsPerAccount) subscriptions, and all accounts \(NotificationTable.subscriptionCount)",
        limit: NotificationTable.subscriptionsPerAccount,
        hint: "remove devices that are not needed")

    fileprivate static func tooManyTests(waitMilliseconds: Int64) -> Problem {
        Problem(
            429, "rate", "Too many tests", detail: "a device may send a test every 10 seconds", limit: 10,
            hint: "wait as long as Retry-After says", retryAfterSeconds: Int((waitMilliseconds + 999) / 1_000))
    }

    fileprivate static let notificationsFailed = Problem(
        503, "notifications-failed", "Notifications failed",
        detail: "the daemon cannot read or write its files about notifications", hint: "look at the daemon's log")
}
