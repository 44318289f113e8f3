import KVStoreWire
import Logging
import NIOCore

/// `PATCH` and `DELETE /v1/devices/{device}`: changes of the account's devices by one with the scope `admin`, and
/// `DELETE /v1/me`. They complete when the change is durable and in force.
extension StoreServer {
    func renameDevice(
        _ id: String, _ request: Request, on loop: any EventLoop,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        let caller = try request.caller(.admin)
        try request.checkJSON()
        let body = request.body
        changeFiles(on: loop) { [self] () throws(Problem) in
            let message: DeviceChange = try decode(body, depthLimit: limits.jsonDepth)
            let name = message.name
            guard Device.isValidName(name) else { throw .badDeviceName(name) }
            _ = try changeDevices(as: caller) { table in
                do throws(ServerError) {
                    return try table.rename(id: id, account: caller.account, to: name)
                        .map(Result.success) ?? .failure(.unknownDevice)
                } catch {
                    return .failure(.duplicateDeviceName(name))
                }
            }
            configuration.logger.notice("device \(id) was renamed by device \(caller.id)")
        } _: { [self] result in
            if case .failure(let problem) = result { return complete(.failure(problem)) }
            describeDevices(ofAccount: caller.account, on: loop) { devices in
                complete(
                    devices.flatMap { devices in
                        let device = devices.first { $0.deviceID == id }
                        return device.map { .success(.answer(.json($0))) } ?? .failure(.unknownDevice)
                    })
            }
        }
    }

    /// `DELETE /v1/me`: a device removes itself. The browser of a page forgets everything of it.
    func leave(
        _ request: Request, on loop: any EventLoop,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        let caller = try request.caller(.read)
        var answer = Answer.noContent
        if request.fields.sessionCookie != nil {
            answer.fields = PageSession.removal + [("Clear-Site-Data", "\"cache\", \"storage\"")]
        }
        remove(caller.id, as: caller, answer, on: loop, complete)
    }

    func removeDevice(
        _ id: String, _ request: Request, on loop: any EventLoop,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        remove(id, as: try request.caller(.admin), .noContent, on: loop, complete)
    }

    private func remove(
        _ id: String, as caller: Device, _ answer: Answer, on loop: any EventLoop,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) {
        changeFiles(on: loop) { [self] () throws(Problem) in
            _ = try changeDevices(as: caller) { table in
                table.remove(id: id, account: caller.account).map(Result.success) ?? .failure(.unknownDevice)
            }
            configuration.logger.notice("device \(id) was removed by device \(caller.id)")
        } _: { result in
            complete(result.map { .answer(answer) })
        }
    }

    /// The caller must still have its permissions.
    private func changeDevices(
        as caller: Device, _ body: (inout DeviceTable) -> Result<Device, Problem>
    ) throws(Problem) -> Device {
        let result: Result<Device, Problem>
        do throws(ServerError) {
            // In force before the answer, not only when the file system reports the change.
            result = try devices.change(.account(caller.account)) { table in
                let present = table.device(id: caller.id)
                guard present?.hasSamePermissions(as: caller) == true else {
                    return .failure(.unauthorized)
                }
                return body(&table)
            }
        } catch {
            configuration.logger.error("cannot change the devices: \(error)")
            throw Problem.ofDatabase(error) ?? .deviceChangeFailed
        }
        return try result.get()
    }
}
