@testable import KVStoreCore

extension ModelWorld {
    /// Everything that can happen next.
    func steps() -> [ModelStep] {
        var steps: [ModelStep] = []
        for index in devices.indices {
            steps += deviceSteps(index).map { .device(index, $0) }
            if case .open(_, let position, _) = devices[index].stream, nextChange(for: index, after: position) != nil {
                steps.append(.streamDelivers(index))
            }
        }
        steps += nodes.isEmpty ? daemonSteps() : nodeSteps()
        guard devices.allSatisfy(\.isSetUp) else { return steps }
        if writesLeft > 0 {
            for index in devices.indices {
                for key in 0..<2 {
                    steps.append(.device(index, .write(key: key, removes: false)))
                    // Removing a missing key changes nothing.
                    if devices[index].replica.table.content(forKey: Self.keys[key]) != nil {
                        steps.append(.device(index, .write(key: key, removes: true)))
                    }
                }
            }
        }
        return steps + faultSteps()
    }

    private func daemonSteps() -> [ModelStep] {
        var steps: [ModelStep] = []
        for index in devices.indices {
            if case .request = devices[index].flight { steps.append(.requestArrives(index)) }
            if case .requested = devices[index].stream { steps.append(.streamOpens(index)) }
        }
        return steps + strays.indices.map { .strayArrives($0) }
    }

    private func deviceSteps(_ index: Int) -> [DeviceStep] {
        var steps: [DeviceStep] = []
        let device = devices[index]
        if case .answer = device.flight { steps.append(.answerArrives) }
        if device.flight == .none, device.isSetUp {
            let replica = device.replica
            let isBehind =
                replica.state.cursor != hub.end || !replica.state.initialSyncCompleted
                || !replica.table.pendingKeys.isEmpty || !generations.areEqual
            if replica.session.backOffTime != nil {
                steps.append(.wake)
            } else if !bounds.isLive[index], isBehind {
                steps.append(.poll)
            }
        }
        if case .open(_, _, let queue) = device.stream, !queue.isEmpty {
            steps.append(.eventArrives)
        }
        return steps
    }

    private func faultSteps() -> [ModelStep] {
        var steps: [ModelStep] = []
        for index in devices.indices {
            let device = devices[index]
            let isSent = if case .request = device.flight { true } else { false }
            if faultsLeft > 0 {
                if device.flight != .none { steps.append(.roundTripIsLost(index)) }
                if isSent { steps += [.requestIsLate(index), .requestIsDoubled(index)] }
                if device.stream != .none { steps.append(.streamBreaks(index)) }
            }
            if crashesLeft > 0 {
                steps.append(.crash(index, requestSurvives: false))
                if isSent { steps.append(.crash(index, requestSurvives: true)) }
            }
        }
        if forgettingsLeft > 0 {
            for key in 0..<2 where hub.entries[Self.keys[key]]?.record.content.isTombstone == true {
                steps.append(.tombstoneIsForgotten(key: key))
            }
        }
        return steps + nodeFaultSteps()
    }

    /// Goes on to the state after a step.
    mutating func take(_ step: ModelStep) throws {
        switch step {
        case .device(let index, let step): try act(step, by: index)
        case .requestArrives(let index):
            guard case .request(let outgoing) = devices[index].flight else { return }
            devices[index].flight = .answer(id: outgoing.id, try receive(outgoing.request))
        case .streamOpens(let index): try openStream(index)
        case .streamDelivers(let index): feedStream(index)
        case .node(let index, let step): try take(step, at: index)
        case .database(let step): try take(step)
        case .roundTripIsLost(let index):
            faultsLeft -= 1
            try fail(index)
        case .requestIsLate(let index):
            faultsLeft -= 1
            leaveRequest(index)
            try fail(index)
        case .requestIsDoubled(let index):
            faultsLeft -= 1
            leaveRequest(index)
            if nodes.isEmpty { try take(.requestArrives(index)) }
        case .strayArrives(let position): _ = try receive(strays.remove(at: position))
        case .streamBreaks(let index):
            faultsLeft -= 1
            try breakStream(index)
        case .crash(let index, let requestSurvives):
            if requestSurvives { leaveRequest(index) }
            try restart(index)
        case .tombstoneIsForgotten(let key): try forget(key)
        }
    }

    private mutating func leaveRequest(_ index: Int) {
        if case .request(let outgoing) = devices[index].flight { strays.append(outgoing.request) }
    }

    mutating func fail(_ index: Int) throws {
        guard let id = devices[index].flight.id else { return }
        devices[index].flight = .none
        try deliver(.answered(id: id, .failure(.unreachable("lost"))), to: index)
    }

    mutating func breakStream(_ index: Int) throws {
        guard let id = devices[index].stream.id else { return }
        devices[index].stream = .none
        try deliver(.streamEnded(id: id, .unreachable("broken")), to: index)
    }
}

extension ModelDevice.Flight {
    var id: UInt64? {
        switch self {
        case .none: nil
        case .request(let outgoing): outgoing.id
        case .received(let id), .answer(let id, _): id
        }
    }
}

extension ModelDevice.Stream {
    var isOpen: Bool { if case .open = self { true } else { false } }

    var id: UInt64? {
        switch self {
        case .none: nil
        case .requested(let id, _), .open(let id, _, _): id
        }
    }
}
