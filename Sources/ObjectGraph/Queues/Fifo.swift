/// A first-in, first-out queue.
struct Fifo<Element>: Sequence {
    private var elements: [Element?] = []
    private var start = 0

    var isEmpty: Bool { start == elements.count }
    var count: Int { elements.count - start }
    var first: Element? { isEmpty ? nil : elements[start] }

    mutating func append(_ element: Element) {
        // Half of the array is unused space.
        if start > 16, start * 2 > elements.count {
            elements.removeFirst(start)
            start = 0
        }
        elements.append(element)
    }

    @discardableResult mutating func removeFirst() -> Element {
        let element = elements[start].known("from the start on no element has been taken")
        elements[start] = nil
        start += 1
        if isEmpty {
            elements.removeAll(keepingCapacity: elements.capacity <= 64)
            start = 0
        }
        return element
    }

    /// Removes and returns the first element that satisfies `matches`.
    mutating func removeFirst(where matches: (Element) -> Bool) {
        guard let index = elements[start...].firstIndex(where: { $0.map(matches) ?? false }) else { return }
        elements.remove(at: index)
        if isEmpty {
            elements = []
            start = 0
        }
    }

    func makeIterator() -> AnyIterator<Element> { AnyIterator(elements[start...].lazy.compactMap { $0 }.makeIterator()) }
}
