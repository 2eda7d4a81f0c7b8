internal import ExampleSupport
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Sends requests to the service, page by page, and validates the answers.
struct NetworkController: Sendable {
    let baseURL: URL

    typealias Completion = @Sendable (_ palettes: PaletteItems?, _ error: (any Error)?) -> Void
    private typealias Pages = @Sendable (Result<PaletteItems, any Error>) -> Void

    /// A request that is sent when it is resumed.
    struct Task: Sendable {
        fileprivate let start: @Sendable () -> Void

        func resume() { start() }
    }

    /// Returns a task for an asynchronous request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - completion: Called once, on a queue of the session (or at once where nothing is requested), with palettes or with an error of
    ///     ``PaletteErrorDomain``.
    func task(_ request: PaletteRequest, completion: @escaping Completion) -> Task {
        Task {
            let answer: Pages = { result in
                switch result {
                case .success(let items): completion(items, nil)
                case .failure(let error): completion(nil, error)
                }
            }
            switch request {
            case .identifiers(let identifiers): read(identifiers[...], after: PaletteItems(), answer)
            case .page(let offset, let limit): read(Page(offset: offset, wanted: limit), after: PaletteItems(), answer)
            case .all(let cause): read(Page(cause: cause), after: PaletteItems(), answer)
            }
        }
    }

    /// Sends a request, and waits for the answer on a semaphore that the session signals from its own queue.
    func sendSynchronousRequest(_ request: PaletteRequest) throws -> [[String: Any]] {
        let received = Locked<(palettes: PaletteItems?, error: (any Error)?)>((nil, nil))
        let arrived = DispatchSemaphore(value: 0)
        task(request) { palettes, error in
            received.withLock { $0 = (palettes, error) }
            arrived.signal()
        }.resume()
        arrived.wait()
        let (palettes, error) = received.withLock { $0 }
        if let error { throw error }
        return palettes?.dictionaries ?? []
    }

    // MARK: Pages

    private struct Page: Sendable {
        var offset = 0
        /// The number of wanted palettes; 0 for all.
        var wanted = 0
        /// The reason for reading all palettes.
        var cause = "missing fetchLimit"

        /// Returns the number of palettes to request after those already known.
        func size(after known: Int) -> Int {
            wanted == 0 ? ColourLovers.largestPage : min(ColourLovers.largestPage, wanted - known)
        }
    }

    private func read(_ page: Page, after known: PaletteItems, _ completion: @escaping Pages) {
        let size = page.size(after: known.dictionaries.count)
        guard size > 0 else { return completion(.success(known)) }
        ask(ColourLovers.topPalettes.urlRequest(offset: page.offset + known.dictionaries.count, limit: size, at: baseURL)) { result in
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success(let items):
                var known = known
                known.dictionaries += items.dictionaries
                if page.wanted == 0, known.dictionaries.count > PaletteRequest.budget {
                    completion(.failure(tooMany(page)))
                } else if items.dictionaries.count < size {
                    completion(.success(known))
                } else {
                    read(page, after: known, completion)
                }
            }
        }
    }

    private func read(_ identifiers: ArraySlice<String>, after known: PaletteItems, _ completion: @escaping Pages) {
        guard let identifier = identifiers.first else { return completion(.success(known)) }
        ask(ColourLovers.palette(id: identifier).urlRequest(at: baseURL)) { result in
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success(let items):
                var known = known
                known.dictionaries += items.dictionaries
                read(identifiers.dropFirst(), after: known, completion)
            }
        }
    }

    private func tooMany(_ page: Page) -> NSError {
        NSError.failure(
            PaletteErrorCode.unanswerableFetch,
            "COLOURlovers can only be asked for pages in the order of the ranks. The \(page.cause) needs all palettes, and there are more "
                + "than \(PaletteRequest.budget). Fetch palettes by id, or in the order of their rank with a fetchLimit.")
    }

    // MARK: HTTP

    private static let session = URLSession(configuration: .ephemeral)

    private func ask(_ request: URLRequest, _ completion: @escaping Pages) {
        let url = request.url
        Self.session.dataTask(with: request) { data, response, error in
            completion(
                Result {
                    if let error {
                        let reason = "No answer came: \(error.localizedDescription)"
                        throw NSError.failure(PaletteErrorCode.unreachable, asking: url, reason, cause: error)
                    }
                    if let status = (response as? HTTPURLResponse)?.statusCode, !(200..<300 ~= status) {
                        throw NSError.failure(PaletteErrorCode.status, asking: url, "The service answered with HTTP status \(status).")
                    }
                    return try PaletteItems(json: data ?? Data(), from: url)
                })
        }.resume()
    }
}
