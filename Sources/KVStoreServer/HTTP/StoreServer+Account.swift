package import KVStoreWire

/// The account and device of a token, and the account's devices and stores.
extension StoreServer {
    func identity(_ request: Request) throws(Problem) -> Answer {
        guard let device = request.device else { throw .unauthorized }
        var answer = Answer.json(
            DaemonIdentity(
                account: device.account, device: device.name, deviceID: device.id,
                scopes: device.scopes.map(\.rawValue), stores: device.stores,
                epoch: devices.table.instance, serverTime: engine.now(of: device.account)))
        // Kept alive as long as the page is opened now and then.
        if let token = request.fields.sessionToken {
            answer.fields = SessionCookie.fields(token: token)
        }
        return answer
    }

    func listDevices(_ request: Request) throws(Problem) -> Answer {
        let caller = try request.caller(.read)
        return .json(
            DeviceList(
                devices: devices(ofAccount: caller.account),
                serverTime: engine.now(of: caller.account)))
    }

}

extension DeviceRegistry {
    package func describe(_ device: Device) -> DaemonDevice {
        let presence = presence(of: device.id)
        return DaemonDevice(
            deviceID: device.id, device: device.name, scopes: device.scopes.map(\.rawValue),
            created: device.created, lastSeen: presence.lastSeen, connected: presence.isConnected,
            page: device.page)
    }
}
