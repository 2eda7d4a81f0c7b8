internal import Platform

/// Injects the faults of networks and services into another transport, and counts them.
///
/// The faults follow from a seed, as long as requests come one after another. The transport may be used on any thread.
public final class FaultInjectingTransport: StreamingTransport {
    /// The probability of each fault, from 0 (never) to 1 (always). A request has at most one fault; delays come in addition.
    public struct Rates: Hashable, Sendable, Codable {
        /// The request waits before it is sent.
        public var delay = 0.0
        /// The request waits for the answer to another one, so that they arrive in a different order.
        public var reorder = 0.0
        /// The connection ends before the request has arrived.
        public var dropBefore = 0.0
        /// The connection ends after the service has processed the request, before the answer arrives.
        public var dropAfter = 0.0
        /// Only the first part of the answer's body arrives.
        public var halfAnswer = 0.0
        /// The answer's body is garbage.
        public var garbage = 0.0
        /// The service answers 429, and does nothing.
        public var tooManyRequests = 0.0
        /// The service answers 500, with or without having processed the request.
        public var serverError = 0.0
        /// The service answers 503, and does nothing.
        public var unavailable = 0.0

        /// Creates rates without faults.
        public init() {}

        /// Returns equal rates for all faults, with a total share of the requests.
        public static func all(_ rate: Double) -> Rates {
            var rates = Rates()
            (rates.delay, rates.reorder) = (rate, rate)
            let part = rate / 7
            (rates.dropBefore, rates.dropAfter, rates.halfAnswer, rates.garbage) = (part, part, part, part)
            (rates.tooManyRequests, rates.serverError, rates.unavailable) = (part, part, part)
            return rates
        }
    }

    /// The number of times that each fault has happened.
    public struct Counts: Hashable, Sendable, Codable, CustomStringConvertible {
        /// The requests that were sent.
        public var requests = 0
        /// The requests that were delayed.
        public var delays = 0
        /// The requests that waited for another one.
        public var reordered = 0
        /// The connections that ended before the request had arrived.
        public var droppedBefore = 0
        /// The connections that ended after the request had arrived.
        public var droppedAfter = 0
        /// The answers that were cut off.
        public var halfAnswers = 0
        /// The answers that were garbage.
        public var garbage = 0
        /// The answers with the status 429.
        public var tooManyRequests = 0
        /// The answers with the status 500.
        public var serverErrors = 0
        /// The answers with the status 503.
        public var unavailable = 0

        /// The number of all faults.
        public var faults: Int {
            droppedBefore + droppedAfter + halfAnswers + garbage + tooManyRequests + serverErrors + unavailable
        }

        /// The counts on one line.
        public var description: String {
            "\(requests) requests: \(delays) delayed, \(reordered) reordered, \(droppedBefore) dropped before and \(droppedAfter) after they "
                + "had arrived, \(halfAnswers) half answers, \(garbage) of nonsense, \(tooManyRequests) with 429, \(serverErrors) with 500, "
                + "\(unavailable) with 503"
        }
    }

    fileprivate enum Fault {
        case dropBefore
        case dropAfter
        case halfAnswer
        case garbage
        case tooManyRequests
        case serverError
        case unavailable
    }

    fileprivate struct State {
        var generator: SplitMix
        var rates: Rates
        var counts = Counts()
        /// The number of requests in progress.
        var running = 0
        /// The requests that wait for another one.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let transport: any Transport
    private let maximumDelay: Double
    private let sleep: @Sendable (Double) async throws -> Void
    private let state: LockedBox<State>

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - transport: The transport that sends the requests.
    ///   - seed: The seed of all random decisions.
    ///   - rates: The probability of each fault.
    ///   - maximumDelay: The longest delay, in seconds.
    ///   - time: The source of the waits.
    public init(_ transport: any Transport, seed: UInt64, rates: Rates, maximumDelay: Double = 0.05, time: ClientTime = .system) {
        self.transport = transport
        self.maximumDelay = maximumDelay
        sleep = time.sleep
        state = LockedBox(State(generator: SplitMix(state: seed), rates: rates))
    }

    /// The counts so far.
    public var counts: Counts { state.withLock { $0.counts } }

    /// The probability of each fault from now on.
    public var rates: Rates {
        get { state.withLock { $0.rates } }
        set { state.withLock { $0.rates = newValue } }
    }

    /// Sends a request, or drops it, and returns its answer, a faulty one, or an error.
    public func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        let (fault, delay, number) = state.withLock { $0.draw() }
        defer { leave() }
        if let delay { try await sleep(delay * maximumDelay) }
        await waitForAnother(draws: number)
        return try await send(request, limits: limits, fault: fault, number: number)
    }

    private func send(_ request: WebRequest, limits: TransportLimits, fault: Fault?, number: UInt64) async throws -> WebResponse {
        func lost() -> TransportError { TransportError(.lost, request: request.summary, detail: "A fault was injected.") }
        switch fault {
        case nil: return try await transport.send(request, limits: limits)
        case .dropBefore:
            // The client may or may not know that nothing was sent.
            if number & 1 == 0 { throw lost() }
            throw TransportError(.cannotConnect, request: request.summary, detail: "A fault was injected.")
        case .dropAfter:
            _ = try await transport.send(request, limits: limits)
            throw lost()
        case .halfAnswer:
            var response = try await transport.send(request, limits: limits)
            response.body.removeLast(response.body.count - response.body.count / 2)
            return response
        case .garbage:
            var response = try await transport.send(request, limits: limits)
            var generator = SplitMix(state: number)
            response.body = (0..<min(4096, max(16, response.body.count))).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            return response
        case .tooManyRequests: return WebResponse(status: 429, headers: ["Retry-After": "0"])
        case .serverError:
            if number & 1 == 0 { _ = try await transport.send(request, limits: limits) }
            return WebResponse(status: 500, body: Array("Internal Server Error".utf8))
        case .unavailable: return WebResponse(status: 503, headers: number & 1 == 0 ? ["Retry-After": "0"] : [:])
        }
    }

    /// Sends a request for an answer in pieces, or drops it. If the fault is a partial answer or garbage, the connection ends after the first piece.
    ///
    /// - Throws: Also a ``TransportError`` of the kind ``TransportError/Kind/invalid`` if the underlying transport does not support pieces.
    public func stream(_ request: WebRequest, limits: TransportLimits) async throws -> WebStream {
        let (fault, delay, number) = state.withLock { $0.draw() }
        defer { leave() }
        if let delay { try await sleep(delay * maximumDelay) }
        switch fault {
        case nil: return try await transport.stream(ifAble: request, limits: limits)
        case .dropAfter, .halfAnswer, .garbage:
            let stream = try await transport.stream(ifAble: request, limits: limits)
            let lost = TransportError(.lost, request: request.summary, detail: "A fault was injected.")
            let (pieces, count) = (SharedIterator(stream.pieces.makeAsyncIterator()), LockedBox(0))
            return WebStream(
                status: stream.status, headers: stream.headers,
                pieces: AsyncThrowingStream {
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    if number > 1 { throw lost }
                    return try await pieces.next()
                })
        case .dropBefore, .tooManyRequests, .serverError, .unavailable:
            return WebStream(try await send(request, limits: limits, fault: fault, number: number))
        }
    }

    /// Waits for the answer to another request, if there is one that does not wait itself.
    private func waitForAnother(draws number: UInt64) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let waits = state.withLock { state in
                var generator = SplitMix(state: number)
                guard generator.unit() < state.rates.reorder, state.running > state.waiting.count + 1 else { return false }
                state.counts.reordered += 1
                state.waiting.append(continuation)
                return true
            }
            if !waits { continuation.resume() }
        }
    }

    /// Resumes the requests that wait for another one, because this one has its answer.
    private func leave() {
        let waiting = state.withLock { state in
            state.running -= 1
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension FaultInjectingTransport.State {
    /// Returns the fault of the next request.
    fileprivate mutating func draw() -> (FaultInjectingTransport.Fault?, delay: Double?, number: UInt64) {
        counts.requests += 1
        running += 1
        let delay = generator.unit() < rates.delay ? generator.unit() : nil
        if delay != nil { counts.delays += 1 }
        let fault = drawFault()
        return (fault, delay, generator.next())
    }

    private mutating func drawFault() -> FaultInjectingTransport.Fault? {
        var rest = generator.unit()
        func happens(_ rate: Double) -> Bool {
            rest -= rate
            return rest < 0
        }
        if happens(rates.dropBefore) {
            counts.droppedBefore += 1
            return .dropBefore
        }
        if happens(rates.dropAfter) {
            counts.droppedAfter += 1
            return .dropAfter
        }
        if happens(rates.halfAnswer) {
            counts.halfAnswers += 1
            return .halfAnswer
        }
        if happens(rates.garbage) {
            counts.garbage += 1
            return .garbage
        }
        if happens(rates.tooManyRequests) {
            counts.tooManyRequests += 1
            return .tooManyRequests
        }
        if happens(rates.serverError) {
            counts.serverErrors += 1
            return .serverError
        }
        if happens(rates.unavailable) {
            counts.unavailable += 1
            return .unavailable
        }
        return nil
    }
}

/// Random numbers from a seed.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// Returns a number from 0 to 1, excluding 1.
    mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
