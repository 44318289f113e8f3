import KVStoreWire
import Logging

/// Redeems codes. Safe to call from any thread; calls block.
final class PairingRegistry: Sendable {
    /// For users of this machine who can read the data directory. Adds devices of the account `default`, until the
    /// server ends.
    let localCode: PairingCode
    private let storage: any DeviceStorage
    private let logger: Logger
    private let now: @Sendable () -> Int64

    init(_ storage: any DeviceStorage, logger: Logger, now: @escaping @Sendable () -> Int64) {
        var random = SystemRandomNumberGenerator()
        localCode = PairingCode(using: &random)
        self.storage = storage
        self.logger = logger
        self.now = now
    }

    /// Adds the device that the code permits.
    ///
    /// The code is durably used up before there is a token: a crash in between costs a code, and never adds two
    /// devices.
    ///
    /// - Parameter isPage: whether a web page asks. A code is either for one or for a program.
    func pair(_ request: PairingRequest, isPage: Bool) throws(Problem) -> PairingAnswer {
        guard let code = PairingCode(request.code) else { throw .wrongCode }
        let proposal = request.device ?? "device"
        guard Device.isValidName(proposal) else { throw .badDeviceName(proposal) }
        let result: Result<PairingAnswer, Problem>
        let former = request.former.map(TokenDigest.init(of:))
        do throws(ServerError) {
            result = try redeem(code, proposal, former: former, isPage: isPage)
        } catch {
            logger.error("cannot pair a device: \(error)")
            switch error.code {
            case .invalidDevice, .invalidAccount: throw .deviceRefused(error.message)
            default: throw .ofDatabase(error) ?? .pairingFailed
            }
        }
        return try result.get()
    }

    private func redeem(
        _ code: PairingCode, _ proposal: String, former: TokenDigest?, isPage: Bool
    ) throws(ServerError) -> Result<PairingAnswer, Problem> {
        if !isPage, TokenDigest(of: localCode.text).matches(code.text) {
            return .success(try add(proposal, DevicePermissions(), former: former))
        }
        let result = try storage.changePairings(.code(code.id)) {
            table, devices throws(ServerError) in
            let wasVoid = table.pairing(id: code.id)?.state == .void
            var result = table.redeem(code, now: now())
            if case .success(let pairing) = result {
                if pairing.permissions.isPage != isPage {
                    result = .failure(isPage ? .programCode : .pageCode)
                } else {
                    let devices = try devices(pairing.account)
                    if let maker = pairing.maker, !devices.isAdministrator(maker) {
                        result = .failure(.withdrawnCode)
                    } else {
                        try devices.check(pairing.name ?? proposal, pairing.permissions, isRenamed: true)
                        table.markUsed(pairing.id)
                    }
                }
            } else if !wasVoid, table.pairing(id: code.id)?.state == .void {
                logger.warning("pairing \(code.id) is void: \(Pairing.wrongCodeLimit) wrong codes named it")
            }
            return result
        }
        let pairing: Pairing
        switch result {
        case .failure(let problem): return .failure(problem)
        case .success(let redeemed): pairing = redeemed
        }
        return .success(
            try add(pairing.name ?? proposal, pairing.permissions, former: former, maker: pairing.maker))
    }

    private func add(
        _ name: String, _ permissions: DevicePermissions, former: TokenDigest?, maker: String? = nil
    ) throws(ServerError) -> PairingAnswer {
        let (device, token) = try storage.add(name, permissions, isRenamed: true, former: former, maker: maker)
        logger.notice("paired device \(device.id) of the account \(device.account)")
        return PairingAnswer(
            token: token, account: device.account, device: device.name, deviceID: device.id,
            scopes: device.scopes.map(\.rawValue), stores: device.stores)
    }
}
