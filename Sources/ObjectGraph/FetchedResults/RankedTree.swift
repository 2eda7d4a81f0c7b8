internal import Predicates

/// An element of a ``RankedTree``, which knows its position in the tree, so that its index is found without comparisons.
class RankedNode {
    fileprivate(set) final var left: RankedNode?
    fileprivate(set) final var right: RankedNode?
    // The parent or the tree retains the node.
    fileprivate(set) unowned(unsafe) final var parent: RankedNode?
    /// The number of nodes in the subtree of this node.
    fileprivate(set) final var size = 1

    /// The index of the node in its tree, found in a logarithmic number of steps.
    final var rank: Int {
        var rank = left?.size ?? 0
        var node = self
        while let parent = node.parent {
            if parent.right === node { rank += (parent.left?.size ?? 0) + 1 }
            node = parent
        }
        return rank
    }

    /// The next node.
    final var next: RankedNode? {
        if var node = right {
            while let left = node.left { node = left }
            return node
        }
        var node = self
        while let parent = node.parent {
            if parent.left === node { return parent }
            node = parent
        }
        return nil
    }

    fileprivate final func updateSize() { size = 1 + (left?.size ?? 0) + (right?.size ?? 0) }
}

/// A sequence in which elements are inserted, removed and found by index, and indices by element, in logarithmic time: a weight-balanced
/// tree.
///
/// The nodes know their neighbors, so they are in one tree at a time: the tree is a class, of which there are no copies.
///
/// The balance factors 3 and 2 are proven to be preserved by insertions and removals (Hirai and Yamamoto, 2011).
final class RankedTree<Node: RankedNode> {
    // All nodes came in through methods that take a `Node`: so each is one.
    private(set) var root: RankedNode?

    init() {}

    /// Creates a tree from nodes that are in no other tree.
    init(_ nodes: [Node]) {
        root = Self.build(nodes[...])
        checkInvariants()
    }

    private static func build(_ nodes: ArraySlice<Node>) -> RankedNode? {
        if nodes.isEmpty { return nil }
        let middle = nodes.startIndex + nodes.count / 2
        let node: RankedNode = nodes[middle]
        node.left = build(nodes[..<middle])
        node.right = build(nodes[(middle + 1)...])
        node.left?.parent = node
        node.right?.parent = node
        node.parent = nil
        node.size = nodes.count
        return node
    }

    var count: Int { root?.size ?? 0 }

    subscript(index: Int) -> Node {
        stopProgram(unless: index >= 0 && index < count, "There is no element \(index) among \(count).")
        var rest = index
        var node = root.known("the tree has an element of the index")
        while true {
            let before = node.left?.size ?? 0
            if rest == before { return unchecked(node, as: Node.self) }
            if rest < before {
                node = node.left.known("the index is below its size")
            } else {
                rest -= before + 1
                node = node.right.known("the index is below the size of both halves")
            }
        }
    }

    /// Returns the index of the first node for which the predicate is false; nodes for which it is true must precede all others.
    func partitionPoint(_ liesBefore: (Node) throws -> Bool) rethrows -> Int {
        var index = 0
        var candidate = root
        while let node = candidate {
            if try liesBefore(unchecked(node, as: Node.self)) {
                index += (node.left?.size ?? 0) + 1
                candidate = node.right
            } else {
                candidate = node.left
            }
        }
        return index
    }

    func insert(_ node: Node, at index: Int) {
        stopProgram(unless: index >= 0 && index <= count, "There is no place \(index) among \(count).")
        guard var parent = root else {
            root = node
            checkInvariants()
            return
        }
        var rest = index
        while true {
            let before = parent.left?.size ?? 0
            if rest <= before {
                guard let left = parent.left else {
                    parent.left = node
                    break
                }
                parent = left
            } else {
                rest -= before + 1
                guard let right = parent.right else {
                    parent.right = node
                    break
                }
                parent = right
            }
        }
        node.parent = parent
        rebalance(from: parent)
        checkInvariants()
    }

    func remove(_ node: Node) {
        defer { checkInvariants() }
        let parent = node.parent
        guard let left = node.left, let right = node.right else {
            replace(node, by: node.left ?? node.right, below: parent)
            isolate(node)
            rebalance(from: parent)
            return
        }
        // The next node takes its place.
        var successor = right
        while let next = successor.left { successor = next }
        let start: RankedNode
        if successor === right {
            start = successor
        } else {
            start = successor.parent.known("the successor is below the right child")
            replace(successor, by: successor.right, below: start)
            successor.right = right
            right.parent = successor
        }
        successor.left = left
        left.parent = successor
        replace(node, by: successor, below: parent)
        isolate(node)
        rebalance(from: start)
    }

    /// The nodes in order.
    var nodes: [Node] {
        var nodes: [Node] = []
        nodes.reserveCapacity(count)
        var node = root
        while let left = node?.left { node = left }
        while let current = node {
            nodes.append(unchecked(current, as: Node.self))
            node = current.next
        }
        return nodes
    }

    // MARK: Balance

    private func replace(_ node: RankedNode, by other: RankedNode?, below parent: RankedNode?) {
        other?.parent = parent
        if let parent {
            if parent.left === node { parent.left = other } else { parent.right = other }
        } else {
            root = other
        }
    }

    private func isolate(_ node: RankedNode) {
        node.left = nil
        node.right = nil
        node.parent = nil
        node.size = 1
    }

    private func rebalance(from start: RankedNode?) {
        var current = start
        while let node = current {
            node.updateSize()
            let left = (node.left?.size ?? 0) + 1
            let right = (node.right?.size ?? 0) + 1
            var top = node
            if left * 3 < right {
                let child = node.right.known("the right half is the larger one")
                if (child.left?.size ?? 0) + 1 >= 2 * ((child.right?.size ?? 0) + 1) { rotateRight(child) }
                top = rotateLeft(node)
            } else if right * 3 < left {
                let child = node.left.known("the left half is the larger one")
                if (child.right?.size ?? 0) + 1 >= 2 * ((child.left?.size ?? 0) + 1) { rotateLeft(child) }
                top = rotateRight(node)
            }
            current = top.parent
        }
    }

    @discardableResult private func rotateLeft(_ node: RankedNode) -> RankedNode {
        let child = node.right.known("who rotates to the left has a right child")
        replace(node, by: child, below: node.parent)
        node.right = child.left
        node.right?.parent = node
        child.left = node
        node.parent = child
        node.updateSize()
        child.updateSize()
        return child
    }

    @discardableResult private func rotateRight(_ node: RankedNode) -> RankedNode {
        let child = node.left.known("who rotates to the right has a left child")
        replace(node, by: child, below: node.parent)
        node.left = child.right
        node.left?.parent = node
        child.right = node
        node.parent = child
        node.updateSize()
        child.updateSize()
        return child
    }
}
