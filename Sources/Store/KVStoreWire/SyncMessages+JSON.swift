public import KVStoreCore

/// The cursor is `epoch` and `since`; the first request has neither.
extension SyncRequest: Decodable, JSONDocument {
    private enum CodingKeys: String, CodingKey {
        case replica, epoch, since, horizon, changes
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let since = try fields.decodeIfPresent(EpochID.self, forKey: .epoch).map { epoch in
            SyncCursor(epoch: epoch, sequence: try fields.decode(in: WireNumber.sequence, forKey: .since))
        }
        self.init(
            replica: try fields.decode(ReplicaID.self, forKey: .replica), since: since,
            horizon: try fields.decodeIfPresent(in: WireNumber.sequence, forKey: .horizon),
            changes: try fields.decode([StoreRecord].self, forKey: .changes))
    }

    package func write(to text: inout JSONText) {
        text.write(literal: #"{"changes":"#)
        text.write(changes)
        if let since {
            text.write(literal: #","epoch":"#)
            text.write(plain: since.epoch.description)
        }
        if let horizon {
            text.write(literal: #","horizon":"#)
            text.write(horizon)
        }
        text.write(literal: #","replica":"#)
        text.write(plain: replica.description)
        if let since {
            text.write(literal: #","since":"#)
            text.write(since.sequence)
        }
        text.write(literal: "}")
    }
}

extension SyncResponse: Decodable, JSONDocument {
    private enum CodingKeys: String, CodingKey {
        case epoch, cursor, serverTime, initial, horizon, more, lineage, changes, rejected
    }

    /// The last sequence number of one epoch.
    private struct Epoch: Decodable, JSONDocument {
        var epoch: EpochID
        var end: UInt64

        private enum CodingKeys: String, CodingKey { case epoch, end }

        init(epoch: EpochID, end: UInt64) { (self.epoch, self.end) = (epoch, end) }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            epoch = try fields.decode(EpochID.self, forKey: .epoch)
            end = try fields.decode(in: WireNumber.sequence, forKey: .end)
        }

        func write(to text: inout JSONText) {
            text.write(literal: #"{"end":"#)
            text.write(end)
            text.write(literal: #","epoch":"#)
            text.write(plain: epoch.description)
            text.write(literal: "}")
        }
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let isInitial = try fields.decode(Bool.self, forKey: .initial)
        let lineage = isInitial ? try fields.decode([Epoch].self, forKey: .lineage) : []
        self.init(
            cursor: SyncCursor(
                epoch: try fields.decode(EpochID.self, forKey: .epoch),
                sequence: try fields.decode(in: WireNumber.sequence, forKey: .cursor)),
            serverTime: try fields.decode(in: WireNumber.milliseconds, forKey: .serverTime), isInitial: isInitial,
            hasMore: try fields.decode(Bool.self, forKey: .more),
            changes: try fields.decode([SequencedRecord].self, forKey: .changes),
            rejections: try fields.decode([SyncRejection].self, forKey: .rejected),
            horizon: try fields.decode(in: WireNumber.sequence, forKey: .horizon),
            lineage: lineage.map { SyncCursor(epoch: $0.epoch, sequence: $0.end) })
    }

    package func write(to text: inout JSONText) {
        text.write(literal: #"{"changes":"#)
        text.write(changes)
        text.write(literal: #","cursor":"#)
        text.write(cursor.sequence)
        text.write(literal: #","epoch":"#)
        text.write(plain: cursor.epoch.description)
        text.write(literal: #","horizon":"#)
        text.write(horizon)
        text.write(literal: #","initial":"#)
        text.write(isInitial)
        if isInitial {
            text.write(literal: #","lineage":"#)
            text.write(lineage.map { Epoch(epoch: $0.epoch, end: $0.sequence) })
        }
        text.write(literal: #","more":"#)
        text.write(hasMore)
        text.write(literal: #","rejected":"#)
        text.write(rejections)
        text.write(literal: #","serverTime":"#)
        text.write(serverTime)
        text.write(literal: "}")
    }
}

/// An unknown reason is malformed: a client that ignored it would take the change for accepted.
extension SyncRejection: Decodable, JSONDocument {
    private enum CodingKeys: String, CodingKey {
        case key, stamp, reason, limit, present
    }

    private enum ReasonCode: String, Decodable {
        case clock, quota, key, again
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let reason: Reason =
            switch try fields.decode(ReasonCode.self, forKey: .reason) {
            case .clock:
                .clock(
                    limit: try fields.decode(in: WireNumber.milliseconds, forKey: .limit),
                    present: try fields.decodeIfPresent(StoreStamp.self, forKey: .present))
            case .quota: .quota(limit: try fields.decodeCount(forKey: .limit))
            case .key: .key(limit: try fields.decodeCount(forKey: .limit))
            case .again: .again
            }
        self.init(
            key: try fields.decode(StoreKey.self, forKey: .key),
            stamp: try fields.decode(StoreStamp.self, forKey: .stamp), reason: reason)
    }

    package func write(to text: inout JSONText) {
        let (code, limit, present): (ReasonCode, Int64?, StoreStamp?) =
            switch reason {
            case .clock(let limit, let present): (.clock, limit, present)
            case .quota(let limit): (.quota, Int64(limit), nil)
            case .key(let limit): (.key, Int64(limit), nil)
            case .again: (.again, nil, nil)
            }
        text.write(literal: #"{"key":"#)
        text.write(key.text)
        if let limit {
            text.write(literal: #","limit":"#)
            text.write(limit)
        }
        if let present {
            text.write(literal: #","present":"#)
            text.write(plain: present.description)
        }
        text.write(literal: #","reason":"#)
        text.write(plain: code.rawValue)
        text.write(literal: #","stamp":"#)
        text.write(plain: stamp.description)
        text.write(literal: "}")
    }
}
