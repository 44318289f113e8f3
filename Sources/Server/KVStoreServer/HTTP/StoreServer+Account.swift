import KVStoreWire
import NIOCore

/// The account and device of a token, and the account's devices and stores.
extension StoreServer {
    func identity(_ request: Request) throws(Problem) -> Answer {
        guard let device = request.device else { throw .unauthorized }
        var answer = Answer.json(
            DaemonIdentity(
                account: device.account, device: device.name, deviceID: device.id,
                scopes: device.scopes.map(\.rawValue), stores: device.stores,
                epoch: devices.instance, serverTime: engine.now(of: device.account)))
        // Kept alive as long as the page is opened now and then.
        if let cookie = request.fields.sessionCookie {
            answer.fields = PageSession.fields(cookie: cookie)
        }
        return answer
    }

    func listDevices(
        _ request: Request, on loop: any EventLoop,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        let account = try request.caller(.read).account
        describeDevices(ofAccount: account, on: loop) { [self] devices in
            complete(
                devices.map {
                    .answer(.json(DeviceList(devices: $0, serverTime: engine.now(of: account))))
                })
        }
    }
}
