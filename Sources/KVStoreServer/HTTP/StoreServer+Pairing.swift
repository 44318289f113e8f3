import Dispatch
import KVStoreLog
import KVStoreWire
import NIOCore

/// `POST /v1/pair`: the only request that changes something without a token.
extension StoreServer {
    /// Checks before the body is read that it is short, and that the address has not failed too often: then no code is
    /// looked at.
    func admitPairing(_ fields: RequestFields, from address: String) throws(Problem) {
        guard let count = fields.contentLength, count <= limits.pairingByteCount else {
            throw .bodyTooLarge(limit: limits.pairingByteCount)
        }
        if let wait = failureRates.wait(address, now: System.monotonicMilliseconds()) {
            throw .tooManyFailures(
                waitMilliseconds: wait, perMinute: Int(limits.failedAuthenticationsPerMinute))
        }
    }

    /// Completes when the device is durable.
    func pair(
        _ request: Request, on loop: any EventLoop,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) {
        let completion = NIOLoopBound(complete, eventLoop: loop)
        let (body, address) = (request.body, request.address)
        pairings.queue.async { [self] in
            let result = Result { () throws(Problem) in
                let message: PairingRequest = try decode(body, depthLimit: limits.jsonDepth)
                return try pairings.pair(message)
            }
            loop.execute { [self] in
                completion.value(
                    result.map { .answer(.json($0)) }.mapError { problem in
                        guard problem == .wrongCode else { return problem }
                        return rejection(
                            problem, from: address, now: System.monotonicMilliseconds())
                    })
            }
        }
    }
}
