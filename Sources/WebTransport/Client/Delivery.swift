internal import Logging
internal import Platform

/// The delivery of one request: its tries, redirects and waits.
struct Delivery {
    let client: WebClient
    let request: WebRequest
    /// The address of the request, which is parsed once.
    private let address: WebAddress
    /// Whether the request carries the client's credentials.
    let authenticates: Bool
    let followsRedirects: Bool
    var record: RequestRecord
    /// The function that sends each try; nil for the client's transport.
    private let exchange: WebClient.Exchange?
    /// The deadline for all tries and waits, in the client's seconds. Waits for other requests of the client do not count.
    private var deadline: Double
    /// The generations of the credentials of the last try.
    private var generations: Authenticators.Generations?
    /// The authenticators that have added the credentials, and their user.
    private var authenticators: Authenticators
    private var principal: String?
    private var lastRequest: WebRequest

    private var options: WebClient.Options { client.options }
    private var now: Double { options.time.seconds() }
    private var summary: String { client.secrets.summary(request) }

    init(
        client: WebClient, request: WebRequest, at address: WebAddress, authenticates: Bool, followsRedirects: Bool, record: RequestRecord,
        through exchange: WebClient.Exchange? = nil, with authenticators: Authenticators? = nil
    ) {
        self.exchange = exchange
        self.client = client
        self.request = request
        self.address = address
        self.authenticates = authenticates
        self.followsRedirects = followsRedirects
        self.record = record
        deadline = client.options.time.seconds() + client.options.retries.totalSeconds
        lastRequest = request
        principal = client.principal
        self.authenticators = authenticators ?? client.authenticators(of: principal)
    }

    /// The context for authenticators.
    private var context: AuthenticationContext {
        AuthenticationContext(
            send: { [client, authenticators] request, followsRedirects in
                do {
                    // Its result, such as a cookie, is for the same user.
                    return try await client.send(
                        request, authenticates: false, followsRedirects: followsRedirects, with: authenticators)
                } catch let error as TransportError {
                    // The request for credentials may have arrived. The request that needs them was not sent.
                    throw TransportError(
                        .unauthorized, request: error.request, detail: "\(error.kind.rawValue) \(error.detail)",
                        isTemporary: error.isOfNetwork || error.isTemporary)
                }
            }, secrets: client.secrets, cookies: authenticators.cookies, seconds: options.time.seconds,
            isOwn: { [client] in client.isOwn($0) })
    }

    /// Sends the request until there is an answer to return.
    mutating func send() async throws -> WebResponse {
        var number = 0
        var renewed: Set<Int> = []
        while true {
            number += 1
            record.tries += 1
            let wait: Double
            let reason: String
            do {
                let response = try await follow()
                if let generations, client.principal == principal,
                    try await authenticators.renew(
                        after: response, to: lastRequest, generations: generations, renewed: &renewed, in: context)
                {
                    if client.principal != principal { client.forgetCredentials(of: principal) }
                    // The credentials have expired, and the service has done nothing.
                    number -= 1
                    continue
                }
                guard number < options.retries.maximumTries, options.retries.repeats(request, after: response.status) else {
                    return response
                }
                let asked = response.headers["Retry-After"].flatMap {
                    RetryPolicy.delay(retryAfter: $0, now: options.time.secondsSince1970())
                }
                let chosen = options.retries.delay(afterTry: number, random: options.time.random())
                // Randomness spreads out the retries of clients that were all given the same time.
                wait = asked.map { $0 + chosen / 10 } ?? chosen
                guard now + wait < deadline else { return response }
                // By these two statuses, a service declares that it has done nothing.
                if ![429, 503].contains(response.status) { record.mayHaveArrivedBefore = true }
                reason = "The status was \(response.status)."
            } catch let error as TransportError {
                wait = options.retries.delay(afterTry: number, random: options.time.random())
                guard number < options.retries.maximumTries, options.retries.repeats(request, after: error), now + wait < deadline else {
                    throw afterAll(error)
                }
                if error.mayHaveArrived { record.mayHaveArrivedBefore = true }
                reason = error.kind.rawValue
            }
            let seconds = (wait * 1000).rounded() / 1000
            options.logger.notice("\(summary) is sent again in \(seconds) s (try \(number + 1)). \(reason)")
            record.secondsWaiting += wait
            try await options.time.sleep(wait)
        }
    }

    /// Returns the last error for the whole request: the request may have arrived if any of its tries may.
    private func afterAll(_ error: TransportError) -> TransportError {
        // A redirect that is not followed says nothing about earlier tries, either.
        guard record.mayHaveArrivedBefore, !error.mayHaveArrived || error.kind == .redirected else { return error }
        return TransportError(
            .lost, request: error.request,
            detail: "An earlier try may have arrived. The last one did not: \(error.kind.rawValue) \(error.detail)")
    }

    /// Sends the request once, and follows redirects.
    private mutating func follow() async throws -> WebResponse {
        var current = request
        let isOwn = client.isOwn(address)
        for field in options.headers.fields
        where current.headers[field.name] == nil && (isOwn || RedirectPolicy.harmlessHeaders.contains(field.name.lowercased())) {
            current.headers.add(field.name, field.value)
        }
        var visited: Set<String> = []
        var turnedToGet: Int?
        generations = nil
        for hop in 0... {
            let cookieChanges = authenticators.cookies?.changes ?? 0
            let place = (method: current.method.rawValue, url: current.url)
            func isNew() -> Bool { visited.insert("\(place.method) \(cookieChanges) \(place.url)").inserted }
            guard hop == 0 || isNew() else { throw TransportError(.redirected, request: summary, detail: "They lead in a circle.") }
            var response = try await sendOnce(&current)
            if hop > 0 { (response.redirectedTo, response.turnedToGet) = (client.secrets.remove(fromURL: current.url), turnedToGet) }
            // A login page is no useful answer to a request with credentials: the redirect to it means that they were refused.
            if generations?.isEmpty == false, response.leadsToSignIn, !SignInAddress.isOne(current.url) { return response }
            guard followsRedirects, let next = try options.redirects.next(after: response, to: current, summary: summary) else {
                return response
            }
            // Most requests are not redirected, so the first address is recorded only now.
            if hop == 0 { _ = isNew() }
            guard hop < options.redirects.maximum else {
                throw TransportError(.redirected, request: summary, detail: "There are more than \(options.redirects.maximum).")
            }
            if next.method != current.method { turnedToGet = turnedToGet ?? response.status }
            current = try withoutCredentials(next)
            record.redirects += 1
        }
        throw TransportError(.redirected, request: summary)
    }

    /// Returns the target of a redirect, without the credentials that its address may repeat.
    private func withoutCredentials(_ next: WebRequest) throws -> WebRequest {
        guard !client.isOwn(next.url) else { return next }
        var result = next
        result.url = CredentialAuthenticator.removing(client.queryNames.union(options.secretQueryItems), from: next.url)
        guard !client.secrets.occur(in: result.url) else {
            throw TransportError(.redirected, request: summary, detail: "One leads with a credential to another origin.")
        }
        return result
    }

    /// Sends a request once, with credentials if its address may receive them.
    ///
    /// - Parameter message: The request. Headers that its address must not receive are removed.
    private mutating func sendOnce(_ message: inout WebRequest) async throws -> WebResponse {
        let address: WebAddress
        do {
            address = message.url == request.url ? self.address : try WebAddress(message.url)
        } catch {
            throw TransportError(.invalid, request: summary, detail: error.rawValue)
        }
        let origin = address.origin
        let isOwn = client.isOwn(origin: origin)
        if !isOwn, authenticates {
            message.headers.fields.removeAll { !RedirectPolicy.harmlessHeaders.contains($0.name.lowercased()) }
        }
        // Credentials are fetched before the request takes a place in the gate, because fetching them needs a place, too.
        var outgoing = message
        lastRequest = message
        generations = isOwn && authenticates ? try await authorize(&outgoing) : nil
        try await waitForTurn(origin)
        let before = now
        try await client.gate.enter(origin)
        defer { client.gate.leave(origin) }
        deadline += now - before
        // The trace context of the program is only for its own services.
        if isOwn || !authenticates { Telemetry.propagate(to: &outgoing) }
        if isOwn, authenticates {
            try await authenticators.sign(&outgoing, in: context)
            // The user may have changed while the request waited for its turn.
            guard message.principal == nil || message.principal == client.principal else { throw otherUser }
        } else if !authenticates {
            authenticators.cookies?.add(to: &outgoing, secondsNow: now)
        }
        client.secrets.add(of: outgoing, headers: client.secretHeaders)
        var limits = options.limits
        limits.requestSeconds = max(0.001, min(limits.requestSeconds, deadline - now))
        let notes = RequestNotes(client: ObjectIdentifier(client.secrets)) { [secrets = client.secrets] text in secrets.remove(from: text) }
        record.bytesSent += outgoing.body?.count ?? 0
        let response = try await RequestNotes.$current.withValue(notes) {
            if let exchange { return try await exchange(outgoing, limits) }
            return try await client.transport.send(outgoing, limits: limits)
        }
        record.bytesReceived += response.body.count
        record.secondsToFirstByte = notes.secondsToFirstByte.withLock { $0 }
        let dateNow = options.time.secondsSince1970()
        client.limiter.note(response, from: origin, now: now, dateNow: dateNow)
        if isOwn || !authenticates {
            authenticators.cookies?.store(
                from: response, to: message.url, secrets: client.secrets, secondsNow: now, dateNow: dateNow)
        }
        return response
    }

    /// Adds the credentials of the user who is signed in.
    ///
    /// - Throws: ``TransportError`` of the kind ``TransportError/Kind/unauthorized`` if the request belongs to another user.
    private mutating func authorize(_ outgoing: inout WebRequest) async throws -> Authenticators.Generations {
        let bare = outgoing
        for _ in 0..<3 {
            principal = client.principal
            guard bare.principal == nil || bare.principal == principal else { throw otherUser }
            authenticators = client.authenticators(of: principal)
            outgoing = bare
            let generations = try await authenticators.authorize(&outgoing, in: context)
            if client.principal == principal { return generations }
            // The credentials that were read may belong to another user.
            client.forgetCredentials(of: principal)
        }
        throw otherUser
    }

    private var otherUser: TransportError { TransportError(.unauthorized, request: summary, detail: "Another user has signed in.") }

    /// Waits until the rate limits permit the request.
    private mutating func waitForTurn(_ origin: String) async throws {
        while true {
            // A wait that the service demands counts towards the deadline; a wait for the client's own limit does not.
            let blocked = client.limiter.blockedUntil(origin) - now
            guard blocked > 0 else { break }
            guard now + blocked < deadline else {
                throw TransportError(.rateLimited, request: summary, detail: "It does again in \(Int(blocked.rounded(.up))) s.")
            }
            record.secondsWaiting += blocked
            try await options.time.sleep(blocked)
        }
        let wait = client.limiter.reserve(origin, now: now) - now
        guard wait > 0 else { return }
        record.secondsWaiting += wait
        deadline += wait
        try await options.time.sleep(wait)
    }
}
