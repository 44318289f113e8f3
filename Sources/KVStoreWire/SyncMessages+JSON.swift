public import KVStoreCore

/// The cursor is `epoch` and `since`; the first request has neither.
extension SyncRequest: Codable {
    private enum CodingKeys: String, CodingKey {
        case replica, epoch, since, horizon, changes
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let since = try fields.decodeIfPresent(EpochID.self, forKey: .epoch).map { epoch in
            Cursor(epoch: epoch, sequence: try fields.decode(UInt64.self, forKey: .since))
        }
        self.init(
            replica: try fields.decode(ReplicaID.self, forKey: .replica), since: since,
            horizon: try fields.decodeIfPresent(UInt64.self, forKey: .horizon),
            changes: try fields.decode([Record].self, forKey: .changes))
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(replica, forKey: .replica)
        try fields.encodeIfPresent(since?.epoch, forKey: .epoch)
        try fields.encodeIfPresent(since?.sequence, forKey: .since)
        try fields.encodeIfPresent(horizon, forKey: .horizon)
        try fields.encode(changes, forKey: .changes)
    }
}

extension SyncResponse: Codable {
    private enum CodingKeys: String, CodingKey {
        case epoch, cursor, serverTime, initial, horizon, more, lineage, changes, rejected
    }

    /// The last sequence number of one epoch.
    private struct Epoch: Codable {
        var epoch: EpochID
        var end: UInt64
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let isInitial = try fields.decode(Bool.self, forKey: .initial)
        let lineage = isInitial ? try fields.decode([Epoch].self, forKey: .lineage) : []
        self.init(
            cursor: Cursor(
                epoch: try fields.decode(EpochID.self, forKey: .epoch),
                sequence: try fields.decode(UInt64.self, forKey: .cursor)),
            serverTime: try fields.decode(Int64.self, forKey: .serverTime), isInitial: isInitial,
            hasMore: try fields.decode(Bool.self, forKey: .more),
            changes: try fields.decode([SequencedRecord].self, forKey: .changes),
            rejections: try fields.decode([SyncRejection].self, forKey: .rejected),
            horizon: try fields.decode(UInt64.self, forKey: .horizon),
            lineage: lineage.map { Cursor(epoch: $0.epoch, sequence: $0.end) })
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(cursor.epoch, forKey: .epoch)
        try fields.encode(cursor.sequence, forKey: .cursor)
        try fields.encode(serverTime, forKey: .serverTime)
        try fields.encode(isInitial, forKey: .initial)
        try fields.encode(horizon, forKey: .horizon)
        try fields.encode(hasMore, forKey: .more)
        if isInitial {
            try fields.encode(
                lineage.map { Epoch(epoch: $0.epoch, end: $0.sequence) }, forKey: .lineage)
        }
        try fields.encode(changes, forKey: .changes)
        try fields.encode(rejections, forKey: .rejected)
    }
}

/// An unknown reason is malformed: a client that ignored it would take the change for accepted.
extension SyncRejection: Codable {
    private enum CodingKeys: String, CodingKey {
        case key, stamp, reason, limit, present
    }

    private enum ReasonCode: String, Codable {
        case clock, quota, key, again
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let reason: Reason =
            switch try fields.decode(ReasonCode.self, forKey: .reason) {
            case .clock:
                .clock(
                    limit: try fields.decode(Int64.self, forKey: .limit),
                    present: try fields.decodeIfPresent(Stamp.self, forKey: .present))
            case .quota: .quota(limit: try fields.decode(Int.self, forKey: .limit))
            case .key: .key(limit: try fields.decode(Int.self, forKey: .limit))
            case .again: .again
            }
        self.init(
            key: try fields.decode(StoreKey.self, forKey: .key),
            stamp: try fields.decode(Stamp.self, forKey: .stamp), reason: reason)
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(key, forKey: .key)
        try fields.encode(stamp, forKey: .stamp)
        let (code, limit, present): (ReasonCode, Int64?, Stamp?) =
            switch reason {
            case .clock(let limit, let present): (.clock, limit, present)
            case .quota(let limit): (.quota, Int64(limit), nil)
            case .key(let limit): (.key, Int64(limit), nil)
            case .again: (.again, nil, nil)
            }
        try fields.encode(code, forKey: .reason)
        try fields.encodeIfPresent(limit, forKey: .limit)
        try fields.encodeIfPresent(present, forKey: .present)
    }
}
