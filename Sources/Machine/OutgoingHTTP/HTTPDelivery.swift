// Requests to addresses that a user or a device names: where they may go, how they are repeated, and one exchange. Not
// here: what is sent (usage-push, UsageServer), and how replicas reach their daemon (KVStoreHTTP).

import Dispatch
package import Essentials

/// A request that delivers a message.
package struct HTTPPost: Sendable {
    package var address: HTTPAddress
    package var headers: [(name: String, value: String)]
    /// JSON unless the headers name another type.
    package var body: Data

    package init(address: HTTPAddress, headers: [(name: String, value: String)], body: Data) {
        self.address = address
        self.headers = headers
        self.body = body
    }
}

/// Why a message was not delivered. The description is a sentence for the user of this machine.
package struct DeliveryError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A sentence that may be shown to everyone.
    package var reason: String
    /// Behind the reason: what its network says of the address, and how to allow it.
    private var detail = ""
    /// The status of an answer that refuses it for good.
    package var status: Int?

    package init(_ reason: String, detail: String = "", status: Int? = nil) {
        self.reason = reason
        self.detail = detail
        self.status = status
    }

    package var description: String { reason + detail }
}

/// Posts with retries, and only to addresses that the user means.
///
/// - A host that is on this machine or in a private network must be named with its port, unless that is the usual one.
///   Each request goes to the address that was checked, so DNS rebinding cannot redirect it.
/// - Redirects are followed if they keep the method (307, 308), at most `redirectLimit`, under the same rules and never
///   from https to http; headers with secrets do not leave the origin that they are for.
/// - 429, 5xx and failures of the network are retried, twice unless `backOff` says otherwise, with a back-off that
///   follows `Retry-After` up to a limit.
package struct HTTPDelivery: Sendable {
    /// One exchange without following anything.
    package struct Exchange: Sendable {
        package var post: HTTPPost
        /// To connect to, as numbers.
        package var target: String
    }

    package struct Answer: Sendable, Equatable {
        package var status: Int
        package var location: String?
        package var retryAfter: String?

        package init(status: Int, location: String? = nil, retryAfter: String? = nil) {
            self.status = status
            self.location = location
            self.retryAfter = retryAfter
        }
    }

    /// Whether an address may be in a private network.
    package var isNamed: @Sendable (HTTPAddress) -> Bool
    /// The beginning of the command that names a host, which follows.
    let permission: String
    package var redirectLimit = 3
    /// Seconds before each further attempt.
    package var backOff = [2, 8]
    /// Throws a failure of the network.
    var send: @Sendable (Exchange) async throws(DeliveryError) -> Answer = {
        // Made for each, because the first one parses the certificates of all authorities.
        exchange throws(DeliveryError) in try await HTTPExchange().send(exchange)
    }
    var addresses: @Sendable (String) async -> [NetworkAddress] = HTTPDelivery.resolve
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// - Parameter privateHosts: each "host", for the usual port, or "host:port".
    package init(privateHosts: [String], permission: String) {
        let names = Set(privateHosts.map { $0.lowercased() })
        isNamed = { $0.isNamed(by: names) }
        self.permission = permission
    }

    /// In seconds.
    private static let greatestRetryAfter = 20
    /// For the system to find a host.
    private static let resolutionLimit = Duration.seconds(5)

    package func deliver(_ post: HTTPPost) async throws(DeliveryError) {
        var delays = backOff.makeIterator()
        while true {
            guard case .transient(let reason, let retryAfter) = try await attempt(post) else { return }
            guard let delay = delays.next() else {
                throw DeliveryError(backOff.isEmpty ? reason : reason + " (\(backOff.count + 1) attempts)")
            }
            let seconds = max(retryAfter ?? delay, 1)
            guard seconds <= Self.greatestRetryAfter else {
                throw DeliveryError(reason + "; its Retry-After exceeds \(Self.greatestRetryAfter) s")
            }
            guard (try? await sleep(.seconds(seconds))) != nil else {  // Fails only when cancelled.
                throw DeliveryError("cancelled")
            }
        }
    }

    private enum Outcome {
        case delivered
        case transient(String, retryAfter: Int?)
    }

    private func attempt(_ post: HTTPPost) async throws(DeliveryError) -> Outcome {
        var post = post
        for _ in 0...redirectLimit {
            let target = try await target(of: post.address)
            guard let target else { return .transient("\(post.address.host) is unknown", retryAfter: nil) }
            let answer: Answer
            do throws(DeliveryError) {
                answer = try await send(Exchange(post: post, target: target))
            } catch {
                return .transient("\(post.address.host): \(error.reason)", retryAfter: nil)
            }
            let refusal = "\(post.address.host) answers \(answer.status)"
            switch answer.status {
            case 200..<300: return .delivered
            case 307...308 where redirectLimit > 0: try redirect(&post, to: answer.location)
            case 300..<400: throw DeliveryError(refusal + ", a redirect; use the address it redirects to")
            case 429, 500...: return .transient(refusal, retryAfter: answer.retryAfter.flatMap { Int($0) })
            default: throw DeliveryError(refusal, status: answer.status)
            }
        }
        throw DeliveryError("\(post.address.host) redirects more than \(redirectLimit) times")
    }

    private func redirect(_ post: inout HTTPPost, to location: String?) throws(DeliveryError) {
        guard let address = location.flatMap(post.address.redirected) else {
            throw DeliveryError("\(post.address.host) redirects without a valid Location")
        }
        guard address.isEncrypted || !post.address.isEncrypted else {
            throw DeliveryError("\(post.address.host) redirects to plain HTTP")
        }
        if !address.hasOrigin(of: post.address) { post.headers = [] }
        post.address = address
    }

    /// Throws if no request may go to the address. A host that is unknown now may be known later.
    package func check(_ address: HTTPAddress) async throws(DeliveryError) {
        if try await target(of: address) == nil, !address.isEncrypted, !isNamed(address) { throw .plainText(address) }
    }

    /// What to connect to; nil if the host is unknown.
    private func target(of address: HTTPAddress) async throws(DeliveryError) -> String? {
        let found = await addresses(address.host)
        guard let first = found.first else { return nil }
        if isNamed(address) { return first.text }
        guard let target = found.first(where: { !$0.isPrivate }) else {
            throw DeliveryError(
                "\(address.host) is not on the internet",
                detail: ": it is the private address \(first.text); to allow it, run: "
                    + "\(permission)\(address.authority)")
        }
        guard address.isEncrypted else { throw .plainText(address) }
        return target.text
    }

    private static let resolution = DispatchQueue(label: "ubiquity.resolution", attributes: .concurrent)

    /// Asks the system on a queue, which may take longer than this waits.
    private static func resolve(_ host: String) async -> [NetworkAddress] {
        let (stream, continuation) = AsyncStream.makeStream(
            of: [NetworkAddress].self, bufferingPolicy: .bufferingOldest(1))
        resolution.async { continuation.yield(NetworkAddress.all(ofHost: host)) }
        let limit = Task {
            try? await Task.sleep(for: resolutionLimit)  // Ends early with an answer.
            continuation.finish()
        }
        defer { limit.cancel() }
        for await addresses in stream { return addresses }
        return []
    }
}

extension DeliveryError {
    fileprivate static func plainText(_ address: HTTPAddress) -> DeliveryError {
        DeliveryError("\(address.host) would get the message in plain text; use https://")
    }
}
