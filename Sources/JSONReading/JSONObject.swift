/// The members of an object, in the order in which they are written.
///
/// Two objects are equal if they have the same members in any order. A key may occur twice, as in a document; the last one counts, and is the one that
/// is set.
package struct JSONObject: Sendable {
    /// A key with its value.
    package struct Member: Hashable, Sendable {
        package var key: String
        package var value: JSONValue

        package init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }

        package static func == (left: Member, right: Member) -> Bool {
            left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
        }
    }

    /// The members in their order.
    package var members: [Member]

    package init(_ members: [Member] = []) { self.members = members }

    package var count: Int { members.count }

    package var keys: [String] { members.map(\.key) }

    /// The value of a key. Setting nil removes the key; a new key is appended.
    ///
    /// The search is linear, because objects are small. Make a dictionary to look up many keys of a large one.
    package subscript(key: String) -> JSONValue? {
        get { members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value }
        set {
            guard let newValue else { return members.removeAll { $0.key.utf8.elementsEqual(key.utf8) } }
            if let index = members.lastIndex(where: { $0.key.utf8.elementsEqual(key.utf8) }) {
                members[index].value = newValue
            } else {
                members.append(Member(key: key, value: newValue))
            }
        }
    }
}

extension JSONObject: Hashable {
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        if left.members.count != right.members.count { return false }
        if left.members == right.members { return true }
        // The sort keeps the order of equal keys.
        return left.sorted() == right.sorted()
    }

    /// Returns the members sorted by the bytes of their keys.
    package func sorted() -> [Member] { members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } }

    package func hash(into hasher: inout Hasher) {
        var sum = 0
        for member in members { sum &+= member.hashValue }
        hasher.combine(members.count)
        hasher.combine(sum)
    }
}

extension JSONObject: Sequence {
    package func makeIterator() -> IndexingIterator<[Member]> { members.makeIterator() }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) { members = elements.map { Member(key: $0.0, value: $0.1) } }
}
