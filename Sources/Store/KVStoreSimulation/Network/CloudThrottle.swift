/// A limit on the requests of a device in a span of time. Past that the cloud asks it to wait.
///
/// ```swift
/// phone.throttle = CloudThrottle(requestCount: 2, per: .seconds(60))
/// ```
public struct CloudThrottle: Sendable, Equatable {
    /// The requests allowed in any `window`.
    public var requestCount: Int
    /// The span of time over which requests are counted.
    public var window: Duration

    /// Allows `requestCount` requests in any `window`.
    public init(requestCount: Int, per window: Duration) {
        self.requestCount = requestCount
        self.window = window
    }

    /// 15 requests in 90 seconds, as developers have observed of Apple's service, which documents no limit.
    public static let observedOfApple = CloudThrottle(requestCount: 15, per: .seconds(90))
}
