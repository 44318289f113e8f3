import KVStoreWire
import Logging
import NIOCore

/// The account of a token and its devices, and changes of the devices by one with the scope `admin`. They complete when
/// the change is durable and in force.
extension Exchange {
    static func identify(_ exchange: Exchange) throws(Problem) {
        let device = exchange.caller
        var answer = Answer.json(
            DaemonIdentity(
                account: device.account, device: device.name, deviceID: device.id,
                scopes: device.scopes.map(\.rawValue), stores: device.stores,
                epoch: exchange.server.instance, serverTime: exchange.engine.now(of: device.account)))
        // Kept alive as long as the page is opened now and then.
        if let cookie = exchange.request.fields.sessionCookie {
            answer.fields = PageSession.fields(cookie: cookie)
        }
        exchange.answer(answer)
    }

    static func listDevices(_ exchange: Exchange) throws(Problem) {
        let account = exchange.caller.account
        exchange.server.describeDevices(
            ofAccount: account, on: exchange.loop.loop,
            exchange.answering {
                .json(DeviceList(devices: $0, serverTime: exchange.engine.now(of: account)))
            })
    }

    static func renameDevice(_ exchange: Exchange) throws(Problem) {
        let (server, caller, id) = (exchange.server, exchange.caller, exchange.deviceID)
        try exchange.request.checkJSON()
        let (body, depthLimit) = (exchange.request.body, exchange.limits.jsonDepth)
        server.fileQueue.run(completingOn: exchange.loop.loop) { () throws(Problem) in
            let message: DeviceChange = try StoreServer.decode(body, depthLimit: depthLimit)
            let name = message.name
            guard Device.isValidName(name) else { throw .badDeviceName(name) }
            _ = try server.changeDevices(as: caller) { table in
                do throws(ServerError) {
                    return try table.rename(id: id, account: caller.account, to: name)
                        .map(Result.success) ?? .failure(.unknownDevice)
                } catch {
                    return .failure(.duplicateDeviceName(name))
                }
            }
            server.configuration.logger.notice("device \(id) was renamed by device \(caller.id)")
        } _: { result in
            exchange.finish(result) {
                server.describeDevices(
                    ofAccount: caller.account, on: exchange.loop.loop,
                    exchange.answering { devices throws(Problem) in
                        guard let device = devices.first(where: { $0.deviceID == id }) else { throw .unknownDevice }
                        return .json(device)
                    })
            }
        }
    }

    /// A device removes itself. The browser of a page forgets everything of it.
    static func leave(_ exchange: Exchange) throws(Problem) {
        var answer = Answer.noContent
        if exchange.request.fields.sessionCookie != nil {
            answer.fields = PageSession.removal + [("Clear-Site-Data", "\"cache\", \"storage\"")]
        }
        exchange.remove(exchange.caller.id, answer)
    }

    static func removeDevice(_ exchange: Exchange) throws(Problem) {
        exchange.remove(exchange.deviceID, .noContent)
    }

    private func remove(_ id: String, _ answer: Answer) {
        let (server, caller) = (server, caller)
        server.fileQueue.run(completingOn: loop.loop) { () throws(Problem) in
            _ = try server.changeDevices(as: caller) { table in
                table.remove(id: id, account: caller.account).map(Result.success) ?? .failure(.unknownDevice)
            }
            server.configuration.logger.notice("device \(id) was removed by device \(caller.id)")
        } _: { [self] in
            answering { answer }($0)
        }
    }
}

extension StoreServer {
    /// The caller must still have its permissions.
    fileprivate func changeDevices(
        as caller: Device, _ body: (inout DeviceTable) -> Result<Device, Problem>
    ) throws(Problem) -> Device {
        let result: Result<Device, Problem>
        do throws(ServerError) {
            // In force before the answer, not only when the file system reports the change.
            result = try devices.change(.account(caller.account)) { table in
                let present = table.device(id: caller.id)
                guard present?.hasSamePermissions(as: caller) == true else { return .failure(.unauthorized) }
                return body(&table)
            }
        } catch {
            configuration.logger.error("cannot change the devices: \(error)")
            throw Problem.ofDatabase(error) ?? .deviceChangeFailed
        }
        return try result.get()
    }
}
