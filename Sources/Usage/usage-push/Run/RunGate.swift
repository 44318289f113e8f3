import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import UsagePusher
import UsageState

/// Decides whether a command may start, by the replica of this machine, or by the file for hooks if there is none.
/// Makes no request.
struct RunGate {
    let request: GateRequest
    /// That of `--max`.
    let limit: GateRule?
    private let files = GateFiles()
    private let store: UbiquitousKeyValueStore?
    private let devices: ListedDevices?
    private let device: String?

    init(_ request: GateRequest, limit: GateRule?) {
        self.request = request
        self.limit = limit
        let environment = StoreEnvironment()
        var configuration = try? environment.configuration(isLive: false, isOnline: false)  // As described.
        configuration?.isWatched = false
        store = configuration.flatMap { try? UbiquitousKeyValueStore(configuration: $0) }  // As described.
        // Without an account, or the daemon's answer, no device is known to be removed.
        let credentials = try? environment.credentials()
        devices = credentials.flatMap { AccountDevices(environment: environment, $0).lastAnswer }
            .map { ListedDevices($0.devices, listedAt: $0.received) }
        // A machine whose id cannot be read is one that does not push.
        device = try? DeviceIdentityFile(dataDirectory: environment.dataDirectory).read()
    }

    var usage: GateUsage {
        store.map { GateUsage($0, devices: devices, device: device) } ?? GateUsage(reading: files.read(files.usage))
    }

    func decide() -> GateDecision {
        try? store?.refresh()  // What was read before is still known.
        let usage = usage
        var own = GateRules(reading: files.read(files.rules))
        if let limit { own.rules.append(limit) }
        return GateDecision(usage, own: own, request.located(for: usage), now: Date())
    }

    /// Waits until the command may start, but at most as long as the rule says, whether the clock is changed or the
    /// machine suspended. An interruption ends this process.
    ///
    /// - Returns: the last decision.
    static func wait(_ rule: GateRule, _ first: GateDecision, decide: () -> GateDecision) -> GateDecision {
        let (clock, start) = (ContinuousClock(), ContinuousClock.now)
        var wait = GateWait(rule, session: "\(getpid())", now: Date())
        var decision = first
        while case .waiting(let next) = wait.progress(decision, now: Date()),
            clock.now - start < .seconds(rule.waitLimit)
        {
            usleep(UInt32(min(max(next.timeIntervalSinceNow, 0.01), GateWait.interval) * 1e6))
            decision = decide()
        }
        return decision
    }
}

extension GateDecision {
    /// Whether the command must not start now.
    var refuses: Bool { action ?? .tell >= .pause }

    /// Refuses until the reset that Claude has named with the rejection.
    init(_ rejection: ClaudeStreamMessage.Rejection, at date: Date, now: Date) {
        let usage = GateUsage(
            reached: rejection.limit ?? "limit", of: "claude", name: "Claude", resetsAt: rejection.resetsAt, at: date)
        self.init(
            usage, own: GateRules([GateRule(.used(percent: 100), then: .pause)]),
            GateRequest(provider: "claude", madeAt: date), now: now)
    }
}
