internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Asks the service one question, in as many requests as it takes.
struct PaletteReader: Sendable {
    let baseURL: URL

    typealias Completion = @Sendable (Result<PaletteItems, any Error>) -> Void

    /// Starts asking.
    ///
    /// - Parameters:
    ///   - question: what to ask.
    ///   - completion: called once, on a queue of the session (or at once where there is nothing to ask).
    func read(_ question: PaletteQuestion, completion: @escaping Completion) {
        switch question {
        case .identifiers(let identifiers): read(identifiers[...], after: PaletteItems(), completion)
        case .page(let offset, let limit, let cause):
            readPage(Page(offset: offset, wanted: limit, cause: cause), after: PaletteItems(), completion)
        }
    }

    /// Asks, and waits for the answer.
    ///
    /// The calling thread waits on a semaphore that the session signals from a queue of its own.
    func read(_ question: PaletteQuestion) throws -> [[String: Any]] {
        let received = Mutex<Result<PaletteItems, any Error>?>(nil)
        let arrived = DispatchSemaphore(value: 0)
        read(question) { result in
            received.withLock { $0 = result }
            arrived.signal()
        }
        arrived.wait()
        return try received.withLock { $0 }?.get().dictionaries ?? []
    }

    private func read(_ identifiers: ArraySlice<String>, after known: PaletteItems, _ completion: @escaping Completion) {
        guard let identifier = identifiers.first else { return completion(.success(known)) }
        ask(.palette(id: identifier)) { result in
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success(let items):
                var known = known
                known.dictionaries += items.dictionaries
                read(identifiers.dropFirst(), after: known, completion)
            }
        }
    }

    private struct Page: Sendable {
        let offset: Int
        /// 0 for all.
        let wanted: Int
        /// What made it necessary to read all palettes.
        let cause: String?

        /// How many to ask for when so many are known.
        func size(after known: Int) -> Int {
            wanted == 0 ? ColourLovers.largestPage : min(ColourLovers.largestPage, wanted - known)
        }
    }

    private func readPage(_ page: Page, after known: PaletteItems, _ completion: @escaping Completion) {
        let size = page.size(after: known.dictionaries.count)
        guard size > 0 else { return completion(.success(known)) }
        ask(.topPalettes, offset: page.offset + known.dictionaries.count, limit: size) { result in
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success(let items):
                var known = known
                known.dictionaries += items.dictionaries
                if page.wanted == 0, known.dictionaries.count > PaletteQuestion.budget {
                    completion(.failure(tooMany(page)))
                } else if items.dictionaries.count < size {
                    completion(.success(known))
                } else {
                    readPage(page, after: known, completion)
                }
            }
        }
    }

    private func tooMany(_ page: Page) -> NSError {
        PaletteError.make(
            .unanswerableFetch,
            "COLOURlovers can only be asked for pages in the order of the ranks. The \(page.cause ?? "missing fetchLimit") needs all palettes, and there are more "
                + "than \(PaletteQuestion.budget). Fetch palettes by id, or in the order of their rank with a fetchLimit.")
    }

    private func ask(_ question: ColourLovers, offset: Int = 0, limit: Int = ColourLovers.largestPage, _ completion: @escaping Completion) {
        let httpRequest = question.request(offset: offset, limit: limit, at: baseURL)
        NetworkController.task(httpRequest) { data, error in
            completion(
                Result {
                    if let error { throw error }
                    return try PaletteItems(json: data ?? Data(), from: httpRequest.url)
                })
        }.resume()
    }
}
