// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// Contracts pay with native money the way exchanges and Safe wallets do: within a transaction, not by one.
contract Payer {
    error Undone();

    receive() external payable {}

    function pay(address payable to) external payable {
        send(to, msg.value);
    }

    /// To each address: first, first + 1, … wei.
    function payMany(address payable[] calldata to, uint256 first) external payable {
        for (uint256 i = 0; i < to.length; i++) send(to[i], first + i);
    }

    /// The money goes through a second contract, two calls deep.
    function payThrough(Payer other, address payable to) external payable {
        other.pay{value: msg.value}(to);
    }

    /// Pays 1 wei that stays and 2 wei that a revert takes back.
    function payAndUndo(address payable to) external payable {
        send(to, 1);
        try this.payAndFail{value: 2}(to) {} catch {}
    }

    function payAndFail(address payable to) external payable {
        send(to, msg.value);
        revert Undone();
    }

    /// A contract that is created with the money and destroyed at once.
    function payByDestruction(address payable to) external payable {
        new Doomed{value: msg.value}(to);
    }

    /// A contract that is created with the money and keeps it.
    function payNewContract() external payable returns (address) {
        return address(new Keeper{value: msg.value}());
    }

    /// Code of another contract in this one's name: no money moves by the call itself.
    function payByDelegate(address other, address payable to) external payable {
        (bool done, ) = other.delegatecall(abi.encodeCall(Payer.pay, (to)));
        require(done);
    }

    function send(address payable to, uint256 value) private {
        (bool done, ) = to.call{value: value}("");
        require(done);
    }
}

/// A wallet that is a contract: its owner's transaction carries the call that it makes.
contract Wallet {
    function execute(address to, bytes calldata data) external {
        (bool done, ) = to.call(data);
        require(done);
    }
}

contract Doomed {
    constructor(address payable heir) payable {
        selfdestruct(heir);
    }
}

contract Keeper {
    constructor() payable {}
}
