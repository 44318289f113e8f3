@testable import KVStore

extension ModelWorld {
    /// Everything that can happen next.
    func steps() -> [ModelStep] {
        var steps: [ModelStep] = []
        for index in devices.indices {
            steps += deviceSteps(index).map { .device(index, $0) }
            if case .request = devices[index].flight { steps.append(.requestArrives(index)) }
            switch devices[index].stream {
            case .none: break
            case .asked: steps.append(.streamOpens(index))
            case .open(let place, _):
                if nextChange(after: place) != nil { steps.append(.streamTells(index)) }
            }
        }
        steps += strays.indices.map { .strayArrives($0) }
        guard devices.allSatisfy(\.isSetUp) else { return steps }
        if writesLeft > 0 {
            for index in devices.indices {
                for key in 0..<2 {
                    steps.append(.device(index, .write(key: key, removes: false)))
                    // A removal of what is not there does nothing.
                    if devices[index].replica.table.content(forKey: Self.keys[key]) != nil {
                        steps.append(.device(index, .write(key: key, removes: true)))
                    }
                }
            }
        }
        return steps + faultSteps()
    }

    private func deviceSteps(_ index: Int) -> [DeviceStep] {
        var steps: [DeviceStep] = []
        let device = devices[index]
        if case .answer = device.flight { steps.append(.answerArrives) }
        if device.flight == .none, device.isSetUp {
            let replica = device.replica
            let lacksSomething =
                replica.state.cursor != hub.sequence || !replica.initialSyncCompleted
                || !replica.pendingKeys.isEmpty || replica.state.epoch != hub.epoch
            if replica.session.retryAt != nil {
                steps.append(.wake)
            } else if !bounds.isLive[index], lacksSomething {
                steps.append(.poll)
            }
        }
        if case .open(_, let queue) = device.stream, !queue.isEmpty {
            steps.append(.streamIsHeard)
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
            for key in 0..<2
            where hub.entries[Self.keys[key]]?.record.content.isTombstone == true {
                steps.append(.tombstoneIsForgotten(key: key))
            }
        }
        return steps
    }

    /// Goes on to the state after a step.
    mutating func take(_ step: ModelStep) throws {
        switch step {
        case .device(let index, let step): try act(step, by: index)
        case .requestArrives(let index):
            guard case .request(let request) = devices[index].flight else { return }
            devices[index].flight = .answer(try receive(request))
        case .streamOpens(let index): openStream(index)
        case .streamTells(let index): tellStream(index)
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
            try take(.requestArrives(index))
        case .strayArrives(let place): _ = try receive(strays.remove(at: place))
        case .streamBreaks(let index):
            faultsLeft -= 1
            devices[index].stream = .none
            let error = SyncTransportError.unreachable("broken")
            try carryOut(
                devices[index].replica.handle(.streamEnded(error), at: now(index)), by: index)
        case .crash(let index, let requestSurvives):
            if requestSurvives { leaveRequest(index) }
            try restart(index)
        case .tombstoneIsForgotten(let key): forget(key)
        }
    }

    private mutating func leaveRequest(_ index: Int) {
        if case .request(let request) = devices[index].flight { strays.append(request) }
    }

    private mutating func fail(_ index: Int) throws {
        devices[index].flight = .none
        let error = SyncTransportError.unreachable("lost")
        try carryOut(devices[index].replica.handle(.failed(error), at: now(index)), by: index)
    }
}

extension ModelWorld.Device {
    /// Whether the world has begun for it: before that nothing is written and nothing goes wrong.
    var isSetUp: Bool { replica.session.isAttached }
}
