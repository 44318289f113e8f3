/// The clock of a world, in milliseconds since 1970: as far ahead of this machine's as it was set to be, or standing
/// still.
struct WorldClock: Sendable, Equatable {
    private enum Mode: Equatable {
        case following(offset: Int64)
        case standing(time: Int64)
    }

    /// To the end of the year 9999.
    static let range: ClosedRange<Int64> = 0...253_402_300_799_999

    private var mode = Mode.following(offset: 0)

    /// Whether it goes on by itself.
    var isFollowing: Bool { if case .following = mode { true } else { false } }

    /// - Parameter real: the time of this machine.
    func time(_ real: Int64) -> Int64 {
        switch mode {
        case .following(let offset): min(max(real + offset, 0), Self.range.upperBound)
        case .standing(let time): time
        }
    }

    /// Moves by a duration, which may be negative, and goes on as before.
    mutating func advance(by duration: Int64, real: Int64) {
        let time = min(max(time(real) + duration, 0), Self.range.upperBound)
        mode = isFollowing ? .following(offset: time - real) : .standing(time: time)
    }

    /// Stands still at a time of ``range``.
    mutating func stand(at time: Int64) { mode = .standing(time: time) }

    /// - Parameter offset: how far ahead of this machine's clock.
    mutating func follow(offset: Int64) { mode = .following(offset: offset) }
}

/// The answer to `GET …/clock`.
struct ClockReport: Sendable, Equatable, Codable {
    var time: Int64
    var following: Bool
    /// Ahead of this machine's clock.
    var offset: Int64

    init(_ clock: WorldClock, real: Int64) {
        time = clock.time(real)
        following = clock.isFollowing
        offset = time - real
    }
}

/// The body of `PUT …/clock`: one of `time`, `advance` and `follow`.
struct ClockChange: Sendable, Equatable, Codable {
    var time: Int64?
    var advance: Int64?
    var follow: Bool?
    /// Only with `follow`.
    var offset: Int64?

    /// Nil if the change is valid.
    var defect: String? {
        let limit = WorldClock.range.upperBound
        if [time != nil, advance != nil, follow != nil].count(where: { $0 }) != 1 {
            return "name one of time, advance and follow"
        }
        if follow == false { return "follow is true, or absent: time stops the clock" }
        if offset != nil, follow == nil { return "offset belongs to follow" }
        for (name, value) in [("time", time), ("advance", advance), ("offset", offset)] {
            guard let value, name == "time" ? value < 0 : value < -limit else {
                if let value, value > limit { return "\(name) is greater than \(limit)" }
                continue
            }
            return "\(name) is less than \(name == "time" ? 0 : -limit)"
        }
        return nil
    }

    /// Applies a change without a defect.
    func apply(to clock: inout WorldClock, real: Int64) {
        if let time { clock.stand(at: time) }
        if let advance { clock.advance(by: advance, real: real) }
        if follow != nil { clock.follow(offset: offset ?? 0) }
    }
}
